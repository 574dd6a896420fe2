import type { JobRecord } from "./history.ts";
import { LIAR_TEXT } from "./lies.ts";
import { MAX_TOKENS } from "./tasks.ts";

/** Credits of a job of the Cargos that the clients use. */
const PRICES: Readonly<Record<string, number>> = { "tiny-chat": 0.01, base64: 0.005 };
/** A prompt has at most a token for each byte; a template adds 576 to one message, and the schema of an answer costs some. */
const MAX_TEMPLATE_TOKENS = 640;
const EPSILON = 1e-6;
/** Errors of a job whose Island broke the protocol: free of charge. */
const FREE = ["invalid_output", "output_too_large"];

/** A job as its client reads it when it has ended. */
export interface EndedJob {
  readonly status: string;
  readonly workload_slug: string;
  readonly output: unknown;
  readonly error: { readonly code: string } | null;
  readonly usage: { readonly credits_used: number; readonly completion_tokens: number } | null;
}

/** What is wrong with a job that ended: against what its client was told, and what it was charged. */
export function auditJob(record: JobRecord, job: EndedJob, hasReadPrompt: boolean): string[] {
  const { status, output } = job;
  const text = typeof output === "string" ? output : JSON.stringify(output);
  const lines: string[] = [];
  if (record.ending === "done" && status !== "completed") lines.push(`"done" was said of a job that is ${status}`);
  if (record.ending === "error" && status === "completed") lines.push(`"error" was said of a job that completed`);
  if (record.ending === "done" && record.text !== text) {
    lines.push(`the stream was ${JSON.stringify(record.text)}, the output is ${text}`);
  }
  if (status === "completed" && text.includes(LIAR_TEXT))
    lines.push(`the output has what its Island contradicted: ${text}`);
  const charged = chargeOf(job);
  const most = mostChargeOf(record, job, hasReadPrompt);
  if (charged > most + EPSILON)
    lines.push(`${charged} credits were charged of a job that is ${status}, at most ${most} is right`);
  return lines;
}

export function chargeOf({ usage }: EndedJob): number {
  return usage?.credits_used ?? 0;
}

/** What was read of the prompt and delivered, by the bytes that the client has. */
function mostChargeOf(record: JobRecord, job: EndedJob, hasReadPrompt: boolean): number {
  const price = PRICES[job.workload_slug] ?? 0;
  if (job.status === "completed") return record.text === "" ? 0 : price;
  if (job.error !== null && FREE.includes(job.error.code)) return 0;
  if (record.operation === "utility") return 0;
  const prompt = hasReadPrompt ? Buffer.byteLength(record.prompt) + MAX_TEMPLATE_TOKENS : 0;
  const delivered = Math.min(Buffer.byteLength(record.text), MAX_TOKENS);
  return (price * (prompt + 4 * delivered)) / (prompt + 4 * MAX_TOKENS);
}
