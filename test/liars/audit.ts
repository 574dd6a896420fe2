import type { JobRecord } from "./history.ts";
import { LIAR_TEXT } from "./lies.ts";
import { MAX_TOKENS } from "./tasks.ts";

/** Price of a job of the used Cargos, in credits. */
const PRICES: Readonly<Record<string, number>> = { "tiny-chat": 0.01, base64: 0.005 };
/**
 * Prompt tokens in addition to one per byte, because a template adds up to 576 and a response schema adds a few more.
 */
const MAX_TEMPLATE_TOKENS = 640;
const EPSILON = 1e-6;
/** Errors of jobs whose Island violated the protocol, which are free of charge. */
const FREE = ["invalid_output", "output_too_large"];

/** An ended job of the API. */
export interface EndedJob {
  readonly status: string;
  readonly workload_slug: string;
  readonly output: unknown;
  readonly error: { readonly code: string } | null;
  readonly usage: { readonly credits_used: number; readonly completion_tokens: number } | null;
}

/** Returns the problems of an ended job, which are wrong charges and differences from its client's record. */
export function auditJob(record: JobRecord, job: EndedJob, hasReadPrompt: boolean): string[] {
  const { status, output } = job;
  const text = typeof output === "string" ? output : JSON.stringify(output);
  const lines: string[] = [];
  if (record.ending === "done" && status !== "completed")
    lines.push(`the stream ended with "done", but the job is ${status}`);
  if (record.ending === "error" && status === "completed")
    lines.push(`the stream ended with "error", but the job completed`);
  if (record.ending === "done" && record.text !== text) {
    lines.push(`the stream was ${JSON.stringify(record.text)}, the output is ${text}`);
  }
  if (status === "completed" && text.includes(LIAR_TEXT))
    lines.push(`the output has text that its Island contradicted: ${text}`);
  const charged = chargeOf(job);
  const most = mostChargeOf(record, job, hasReadPrompt);
  if (charged > most + EPSILON)
    lines.push(`${charged} credits were charged for a job that is ${status}, expected at most ${most}`);
  return lines;
}

export function chargeOf({ usage }: EndedJob): number {
  return usage?.credits_used ?? 0;
}

/** Returns the maximum price by the bytes of the prompt and of the delivered text. */
function mostChargeOf(record: JobRecord, job: EndedJob, hasReadPrompt: boolean): number {
  const price = PRICES[job.workload_slug] ?? 0;
  if (job.status === "completed") return record.text === "" ? 0 : price;
  if (job.error !== null && FREE.includes(job.error.code)) return 0;
  if (record.operation === "utility") return 0;
  const prompt = hasReadPrompt ? Buffer.byteLength(record.prompt) + MAX_TEMPLATE_TOKENS : 0;
  const delivered = Math.min(Buffer.byteLength(record.text), MAX_TOKENS);
  return (price * (prompt + 4 * delivered)) / (prompt + 4 * MAX_TOKENS);
}
