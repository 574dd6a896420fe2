import type { JobError } from "../../shared/errors.ts";
import { isTerminal } from "../../shared/job-state.ts";
import type { FinishReason, PromptTokens, Timings, Usage } from "../../shared/output.ts";
import { isVisibleText } from "../../shared/visible-text.ts";
import type { JobEnding, JobRecord } from "../store/jobs/job-store.ts";
import type { ActiveJob } from "./active-job.ts";
import type { Feed, FeedEnding } from "./feed.ts";

export interface Outcome {
  readonly event: JobEnding["event"];
  readonly output?: unknown;
  readonly usage?: Usage;
  readonly finishReason?: FinishReason;
  /** The stop sequence that the Island reports; it may not be one of the job's. */
  readonly stopSequence?: string;
  readonly timings?: Timings;
  readonly error?: JobError;
  /**
   * True to charge delivered output although the error is an Island's fault: another Island delivered the output, or
   * the account has used up an output budget and could otherwise get output free repeatedly.
   */
  readonly isPaid?: boolean;
}

/** The result of a successful run. An undefined `output` means that the output is the streamed text. */
export type RunResult = Required<Pick<Outcome, "usage" | "finishReason" | "timings">> &
  Pick<Outcome, "output" | "stopSequence">;

/** Returns the usage of a job that did not complete: delivered output and prompt tokens that were read. */
export function deliveredUsage({ tokens }: Feed, prompt: PromptTokens | null): Usage | null {
  const promptTokens = countRead(prompt, tokens);
  return tokens === 0 && promptTokens === 0 ? null : { promptTokens, completionTokens: tokens };
}

/**
 * Returns the number of prompt tokens for the charge: those that were read. Tokens of a template are not charged,
 * because a long template and a false report look the same.
 * @param usage The usage of a result. It counts if the Island did not report the prompt before.
 */
export function chargedPromptOf(
  { prompt, traits, feed }: Pick<ActiveJob, "prompt" | "traits" | "feed">,
  usage: Usage | undefined,
): number {
  if (traits === null) return 0;
  const reported = usage === undefined ? countRead(prompt, feed.tokens) : (prompt?.total ?? usage.promptTokens);
  const read = Math.min(reported, traits.promptBytes);
  return read === 0 ? 0 : read + traits.formatTokens;
}

/** Returns whether an output contains something to see. White space is not charged. */
export function isVisibleOutput(output: unknown): boolean {
  return typeof output === "string" ? isVisibleText(output) : !isEmptyOutput(output);
}

export function isEmptyOutput(output: unknown): boolean {
  return output === undefined || output === null || output === "";
}

/** Returns true if the Island broke the protocol. Its attempt is then not paid, whatever it delivered. */
export function isFaultOfIsland({ error, isPaid }: Pick<Outcome, "error" | "isPaid">): boolean {
  return isPaid !== true && (error?.code === "output_too_large" || error?.code === "invalid_output");
}

/** Returns the number of prompt tokens that were read: all of them once the model has produced output. */
function countRead(prompt: PromptTokens | null, deliveredTokens: number): number {
  if (prompt === null) return 0;
  return deliveredTokens > 0 ? prompt.total : prompt.done;
}

/** Returns the last event of a job's feed, for live and later readers. @throws for a job that has not ended. */
export function feedEndingOf(
  job: Pick<JobRecord, "id" | "state" | "usage" | "finishReason" | "creditsUsedMicro" | "error"> & {
    readonly output?: unknown;
    readonly stopSequence?: string;
  },
): FeedEnding {
  if (!isTerminal(job.state)) throw new Error(`Job ${job.id} has no ending: its state is ${job.state}`);
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
