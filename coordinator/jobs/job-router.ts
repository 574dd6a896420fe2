import type { JobState } from "../../shared/job-state.ts";
import type { ActiveJob } from "./active-job.ts";
import type { Feed } from "./feed.ts";
import type { FeedPosition } from "./feed-position.ts";
import type { JobWaiting } from "./job-waiting.ts";

/** What only the owner of an unfinished job knows of it. */
type LiveFacts = Pick<ActiveJob, "state" | "attempt" | "startedAtMs"> & {
  /** Why the job has not begun. */
  readonly waiting: JobWaiting | null;
};

/** An unfinished job that another coordinator has. */
export interface RemoteJob {
  /** Null for a job that has ended meanwhile: storage has it all. @throws {ServiceError} `cluster_unavailable` */
  describe(): Promise<LiveFacts | null>;
  /**
   * Resolves with the job's state when the end is durable; null for a job that had ended before. @throws {ServiceError}
   * `cluster_unavailable`
   */
  cancel(): Promise<JobState | null>;
  /**
   * A copy of the job's feed, which follows it while somebody reads it. `after`: where its reader is, who comes back if it is cut; the
   * copy may begin there. @throws {ServiceError} `cluster_unavailable`, `overloaded`
   */
  openFeed(after?: FeedPosition): Promise<Feed>;
}

/** Finds jobs that are not here. */
export interface JobRouter {
  /** Undefined for a job that has ended, and for an unknown one. */
  find(jobId: string): Promise<RemoteJob | undefined>;
}
