import type { JobRecord } from "./history.ts";
import { LIAR_TEXT } from "./lies.ts";
import { MAX_TOKENS } from "./tasks.ts";

/** Credits for a job of the Cargo base64, and for a token of tiny-chat that is read or generated. */
const UTILITY_PRICE = 0.005;
const READ = 0.000_004;
const GENERATED = 0.000_016;
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

/** Returns the maximum charge by the bytes of the prompt and of the delivered text. */
function mostChargeOf(record: JobRecord, job: EndedJob, hasReadPrompt: boolean): number {
  const isCompleted = job.status === "completed";
  if (isCompleted && record.text === "") return 0;
  if (record.operation === "utility") return isCompleted ? UTILITY_PRICE : 0;
  if (job.error !== null && FREE.includes(job.error.code)) return 0;
  const prompt = isCompleted || hasReadPrompt ? Buffer.byteLength(record.prompt) + MAX_TEMPLATE_TOKENS : 0;
  const delivered = Math.min(Buffer.byteLength(record.text), MAX_TOKENS);
  return prompt * READ + delivered * GENERATED;
}
