import type { JobState } from "../../shared/job-state.ts";
import type { ActiveJob } from "./active-job.ts";
import type { Feed } from "./feed.ts";
import type { FeedPosition } from "./feed-position.ts";
import type { JobPlacement } from "./job-placement.ts";
import type { JobWaiting } from "./job-waiting.ts";

/** Facts of an unfinished job that only its owner has. */
type LiveFacts = Pick<ActiveJob, "state" | "attempt" | "startedAtMs"> & {
  readonly waiting: JobWaiting | null;
  /** Absent if the owner is an older coordinator. */
  readonly placement?: JobPlacement | null;
};

/** An unfinished job that another coordinator has. */
export interface RemoteJob {
  /** Returns the live facts of the job; null if it has ended since. @throws {ServiceError} `cluster_unavailable` */
  describe(): Promise<LiveFacts | null>;
  /**
   * Cancels the job. Resolves at the durable end; null if it had ended. @throws {ServiceError} `cluster_unavailable`
   */
  cancel(): Promise<JobState | null>;
  /**
   * Opens a replica of the feed, which is updated while it has readers. The replica may start at `after`, the position
   * of a reader that reconnects after a cut. @throws {ServiceError} `cluster_unavailable`, `overloaded`
   */
  openFeed(after?: FeedPosition): Promise<Feed>;
}

export interface JobRouter {
  /** Finds a job that another coordinator has. Resolves with undefined for an ended or unknown job. */
  find(jobId: string): Promise<RemoteJob | undefined>;
}
