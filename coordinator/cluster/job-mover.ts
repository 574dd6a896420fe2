import type { Unsubscribe } from "../bus/bus.ts";
import type { WritableFeed } from "../jobs/feed.ts";

/** A job that this coordinator does not own any more. It is not in the registry by then. */
export interface DroppedJob {
  readonly id: string;
  readonly accountId: string;
  /** Open, and written by nobody now. */
  readonly feed: WritableFeed;
  /** The coordinator that has it, as far as that is known. */
  readonly ownerId: string | null;
}

/** Subject of {@link MovedMessage}. */
export const MOVED = "moved";

/** Published by a coordinator that has taken jobs in, at most 500 in a message. */
export interface MovedMessage {
  readonly jobIds: readonly string[];
  readonly ownerId: string;
}

/** Moves unfinished jobs between coordinators. */
export interface JobMover {
  /**
   * Gives waiting jobs of this coordinator to a peer, in one commit; resolves with those that moved. They are not dispatched meanwhile,
   * and those that did not move compete again. The receiver must hear of them: see {@link takeIn}.
   */
  handOver(jobIds: readonly string[], toId: string): Promise<string[]>;
  /**
   * Jobs that became this coordinator's in storage: reads and restores them, and they compete. Those that are here already stay as they
   * are. Resolves with the number of those that were not.
   */
  takeIn(jobIds: readonly string[]): Promise<number>;
  /**
   * Compares storage with memory: takes in what is this coordinator's and not here, and drops what is here and another's. For whoever
   * does not know how a move ended: its answer was lost.
   */
  reconcile(): Promise<void>;
  /** Calls `listener` for each job that another coordinator has now, synchronously, until the returned function is called. */
  onDropped(listener: (job: DroppedJob) => void): Unsubscribe;
}
