import type { Unsubscribe } from "../bus/bus.ts";
import type { WritableFeed } from "../jobs/feed.ts";

/** A job that this coordinator does not own any more. It is not in the registry by then. */
export interface DroppedJob {
  readonly id: string;
  readonly accountId: string;
  /** Open, and written by nobody now. */
  readonly feed: WritableFeed;
}

/** Moves unfinished jobs between coordinators. */
export interface JobMover {
  /**
   * Gives waiting jobs of this coordinator to a peer, in one commit; resolves with those that moved. They are not dispatched meanwhile,
   * and those that did not move compete again. The receiver must hear of them: see {@link takeIn}.
   */
  handOver(jobIds: readonly string[], toId: string): Promise<string[]>;
  /** Jobs that became this coordinator's in storage: reads and restores them, and they compete. Those that are here already stay as they are. */
  takeIn(jobIds: readonly string[]): Promise<void>;
  /** Calls `listener` for each job that another coordinator has now, synchronously, until the returned function is called. */
  onDropped(listener: (job: DroppedJob) => void): Unsubscribe;
}
