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
  /** Returns null for a job that has ended since. @throws {ServiceError} `cluster_unavailable` */
  describe(): Promise<LiveFacts | null>;
  /** Resolves when the end is durable; null for a job that had ended. @throws {ServiceError} `cluster_unavailable` */
  cancel(): Promise<JobState | null>;
  /**
   * Opens a replica of the feed, which follows it while it has readers. It may begin at `after`, the position of a
   * reader that reconnects after a cut. @throws {ServiceError} `cluster_unavailable`, `overloaded`
   */
  openFeed(after?: FeedPosition): Promise<Feed>;
}

export interface JobRouter {
  /** Resolves with undefined for a job that has ended, and for an unknown one. */
  find(jobId: string): Promise<RemoteJob | undefined>;
}
