import type { JobError } from "../../shared/errors.ts";
import { isTerminal } from "../../shared/job-state.ts";
import type { FinishReason, PromptTokens, Timings, Usage } from "../../shared/output.ts";
import type { SettleFacts } from "../credits/settle.ts";
import type { JobEnding, JobRecord } from "../store/jobs/job-store.ts";
import type { ActiveJob } from "./active-job.ts";
import type { Feed, FeedEnding } from "./feed.ts";

/** How a job comes to its end. */
export interface Outcome {
  readonly event: JobEnding["event"];
  readonly output?: unknown;
  readonly usage?: Usage;
  readonly finishReason?: FinishReason;
  /** What the Island says; it may be none of the job's. */
  readonly stopSequence?: string;
  readonly timings?: Timings;
  readonly error?: JobError;
  /**
   * What was delivered is paid, although the error is an Island's fault: another Island delivered it; or there is no room for more output,
   * else an account whose budget is nearly used up would get the rest of it free, again and again.
   */
  readonly isPaid?: boolean;
}

/** What an Island reports of a run that completed. `output` undefined: the text of the tokens. */
export type RunResult = Required<Pick<Outcome, "usage" | "finishReason" | "timings">> &
  Pick<Outcome, "output" | "stopSequence">;

/** Usage of a job that did not complete: what was delivered, and what was read of the prompt. */
export function deliveredUsage({ tokens }: Feed, prompt: PromptTokens | null): Usage | null {
  const promptTokens = readOf(prompt, tokens);
  return tokens === 0 && promptTokens === 0 ? null : { promptTokens, completionTokens: tokens };
}

/**
 * What a job's charge counts for its prompt: what was read of it, and all of it. Nothing if the Island does not tell. What a template
 * adds is not charged: nobody could tell a long one from a false claim.
 */
export function promptCostOf({
  prompt,
  traits,
  feed,
}: Pick<ActiveJob, "prompt" | "traits" | "feed">): Pick<SettleFacts, "readTokens" | "promptTokens"> {
  if (prompt === null || traits === null) return { readTokens: 0, promptTokens: 0 };
  const { promptBytes, formatTokens } = traits;
  const readTokens = Math.min(readOf(prompt, feed.tokens), promptBytes);
  return {
    readTokens: readTokens === 0 ? 0 : readTokens + formatTokens,
    promptTokens: Math.min(prompt.total, promptBytes) + formatTokens,
  };
}

/** A result that gives the client nothing. */
export function isEmptyOutput(output: unknown): boolean {
  return output === undefined || output === null || output === "";
}

/** True for an error that the Island made by breaking the protocol: such an attempt is not paid, whatever it delivered. */
export function isFaultOfIsland({ error, isPaid }: Pick<Outcome, "error" | "isPaid">): boolean {
  return isPaid !== true && (error?.code === "output_too_large" || error?.code === "invalid_output");
}

/** Tokens of the prompt that were read: all of them once the model has said something. */
function readOf(prompt: PromptTokens | null, deliveredTokens: number): number {
  if (prompt === null) return 0;
  return deliveredTokens > 0 ? prompt.total : prompt.done;
}

/**
 * The last event of a job's feed, the same for live readers and for those who read it from storage.
 * @throws for a job that has not ended.
 */
export function feedEndingOf(
  job: Pick<JobRecord, "id" | "state" | "usage" | "finishReason" | "creditsUsedMicro" | "error"> & {
    readonly output?: unknown;
    readonly stopSequence?: string;
  },
): FeedEnding {
  if (!isTerminal(job.state)) throw new Error(`Job ${job.id} is ${job.state}: it has no ending`);
  if (job.state === "completed") {
    return {
      type: "done",
      usage: job.usage ?? { promptTokens: 0, completionTokens: 0 },
      finishReason: job.finishReason ?? "stop",
      creditsUsedMicro: job.creditsUsedMicro,
      output: job.output,
      ...(job.stopSequence !== undefined && { stopSequence: job.stopSequence }),
    };
  }
  if (job.error !== null) return { type: "error", ...job.error };
  return { type: "error", code: "cancelled", message: "The job was cancelled", retryable: false };
}
