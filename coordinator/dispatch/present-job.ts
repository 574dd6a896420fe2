import type { JobError } from "../../shared/errors.ts";
import type { AttemptId } from "../islands/island.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";

/** The fence: the unfinished job, if `attempt` is its present one and this Island has it; else undefined. */
export function presentJob(
  jobs: Pick<JobRegistry, "get">,
  islandId: string,
  { jobId, attempt }: AttemptId,
): ActiveJob | undefined {
  const job = jobs.get(jobId);
  if (job === undefined || job.hasEnded) return undefined;
  return job.attempt === attempt && job.islandId === islandId ? job : undefined;
}

export function islandLost(message: string): JobError {
  return { code: "island_lost", message, retryable: true };
}
