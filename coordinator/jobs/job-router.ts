import type { JobState } from "../../shared/job-state.ts";
import type { ActiveJob } from "./active-job.ts";
import type { Feed } from "./feed.ts";
import type { FeedPosition } from "./feed-position.ts";
import type { JobWaiting } from "./job-waiting.ts";

/** Facts of an unfinished job that only its owner has. */
type LiveFacts = Pick<ActiveJob, "state" | "attempt" | "startedAtMs"> & {
  readonly waiting: JobWaiting | null;
};

/** An unfinished job that another coordinator has. */
export interface RemoteJob {
  /**
   * Returns null for a job that has ended since: storage has all of it. @throws {ServiceError} `cluster_unavailable`
   */
  describe(): Promise<LiveFacts | null>;
  /**
   * Resolves with the job's state when its end is durable; null for a job that had already ended. @throws
   * {ServiceError} `cluster_unavailable`
   */
  cancel(): Promise<JobState | null>;
  /**
   * Opens a replica of the job's feed, which follows it while it has readers. `after`: the position of its reader,
   * which reconnects after a cut; the replica may begin there. @throws {ServiceError} `cluster_unavailable`,
   * `overloaded`
   */
  openFeed(after?: FeedPosition): Promise<Feed>;
}

/** Finds jobs that other coordinators have. */
export interface JobRouter {
  /** Resolves with undefined for a job that has ended, and for an unknown one. */
  find(jobId: string): Promise<RemoteJob | undefined>;
}
