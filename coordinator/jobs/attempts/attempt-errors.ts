import type { AttemptPhase } from "../../../shared/attempt-phase.ts";
import type { JobError } from "../../../shared/errors.ts";
import { formatBytes } from "../../../shared/format-bytes.ts";
import type { ActiveJob } from "../active-job.ts";
import type { OutputOwner } from "../../quotas/output-budget.ts";

const TOO_LARGE: Readonly<Record<OutputOwner | "day", string>> = {
  day: "The account's jobs have made as much output as the coordinator stores for one account in a day",
  account: "The account's unfinished jobs have as much output as the coordinator keeps in memory for one account",
  island: "The Island's jobs have as much output as the coordinator keeps in memory for one Island",
  coordinator: "The coordinator keeps as much output in memory as it may, and the account has its share of that",
};

/** @param full which budget is used up. */
export function tooLarge({ traits }: Pick<ActiveJob, "traits">, full: OutputOwner | "job" | "day"): JobError {
  const limit = traits === null ? "" : ` (${formatBytes(traits.maxOutputBytes)})`;
  const message = full === "job" ? `The Island made more output than the job may have${limit}` : TOO_LARGE[full];
  return { code: "output_too_large", message, retryable: true };
}

/** Why an attempt was given up. */
export function describeExpiry(phase: AttemptPhase, limitMs: number): string {
  const limit = `${limitMs / 1_000} s`;
  switch (phase) {
    case "accept":
      return `The Island did not accept the job within ${limit}`;
    case "start":
      return `The Island accepted the job and did not begin it within ${limit}`;
    case "first_output":
      return `The Island began the job and gave no output within ${limit}`;
    case "silence":
      return `The Island fell silent: no output for ${limit}`;
    default:
      return phase satisfies never;
  }
}

/** What the job waited for in vain. */
export function describeWait({ state, attempt, refusals }: Pick<ActiveJob, "state" | "attempt" | "refusals">): string {
  const ended = attempt - refusals - (state === "queued" ? 1 : 0);
  if (ended === 0) return "No Island began the job within its wait limit";
  const attempts = ended === 1 ? "1 attempt" : `${ended} attempts`;
  return `${attempts} of the job ended without a result, and no Island began another in time`;
}
