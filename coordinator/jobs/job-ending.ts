import type { JobError } from "../../shared/errors.ts";
import type { FinishReason, Timings, Usage } from "../../shared/output.ts";
import type { JobEnding } from "../store/job-store.ts";
import type { FeedEnding } from "./feed.ts";
import type { LiveJob } from "./live-job.ts";

/** How an attempt or the wait for one came to its end. */
export interface Outcome {
  readonly event: JobEnding["event"];
  readonly output?: unknown;
  readonly usage?: Usage;
  readonly finishReason?: FinishReason;
  readonly timings?: Timings;
  readonly error?: JobError;
}

/** Usage of a job that did not complete: the prompt's tokens are told only by a result. */
export function deliveredUsage(job: LiveJob): Usage | null {
  return job.feed.tokens === 0 ? null : { promptTokens: 0, completionTokens: job.feed.tokens };
}

/** What the readers of a job's feed are told of its end. */
export function feedEnding(outcome: Outcome, usage: Usage | null, creditsUsedMicro: number): FeedEnding {
  if (outcome.event === "complete") {
    return {
      type: "done",
      usage: usage ?? { promptTokens: 0, completionTokens: 0 },
      finishReason: outcome.finishReason ?? "stop",
      creditsUsedMicro,
      output: outcome.output,
    };
  }
  if (outcome.event === "cancel") {
    return { type: "error", code: "cancelled", message: "The job was cancelled", retryable: false };
  }
  const error = outcome.error ?? { code: "internal", message: "The job failed", retryable: false };
  return { type: "error", ...error };
}
