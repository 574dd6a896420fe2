import type { JobError } from "../../shared/errors.ts";
import { isTerminal } from "../../shared/job-state.ts";
import type { FinishReason, Timings, Usage } from "../../shared/output.ts";
import type { JobEnding, JobRecord } from "../store/job-store.ts";
import type { Feed, FeedEnding } from "./feed.ts";

/** How a job comes to its end. */
export interface Outcome {
  readonly event: JobEnding["event"];
  readonly output?: unknown;
  readonly usage?: Usage;
  readonly finishReason?: FinishReason;
  readonly timings?: Timings;
  readonly error?: JobError;
}

/** What an Island reports of a run that completed. `output` undefined: the text of the tokens. */
export type RunResult = Required<Pick<Outcome, "usage" | "finishReason" | "timings">> & { readonly output?: unknown };

/** Usage of a job that did not complete: only a result tells the tokens of the prompt. */
export function deliveredUsage({ tokens }: Feed): Usage | null {
  return tokens === 0 ? null : { promptTokens: 0, completionTokens: tokens };
}

/**
 * The last event of a job's feed, the same for live readers and for those who read it from storage.
 * @throws for a job that has not ended.
 */
export function feedEndingOf(
  job: Pick<JobRecord, "id" | "state" | "usage" | "finishReason" | "creditsUsedMicro" | "error"> & {
    readonly output?: unknown;
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
    };
  }
  if (job.error !== null) return { type: "error", ...job.error };
  return { type: "error", code: "cancelled", message: "The job was cancelled", retryable: false };
}
