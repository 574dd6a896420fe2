import type { HeldDecision } from "../../shared/protocol/from-coordinator.ts";
import type { FromIsland, HeldJob, IslandState } from "../../shared/protocol/from-island.ts";
import type { IslandView } from "./island.ts";

/** A frame in which an Island reports on one of its attempts. */
export type AttemptFrame = Extract<FromIsland, { attempt: number }>;

/** Where the reports of Islands on their attempts go. Implemented by `dispatch/`. */
export interface AttemptReports {
  /**
   * Brings jobs here that a returning Island says it holds and another coordinator has, if its proofs are valid. Undefined when there are
   * none. @throws {ServiceError} `storage_unavailable`.
   */
  claim(hostId: string, accountId: string, held: readonly HeldJob[]): Promise<void> | undefined;
  /** Decides, for each job that a returning Island says it holds, whether the Island continues it. */
  reconcile(island: IslandView, held: readonly HeldJob[]): HeldDecision[];
  /** Takes note of the progress that a heartbeat tells. */
  noteProgress(island: IslandView, state: IslandState): void;
  /**
   * Acts on a frame. Resolves when what it says is durable, which is when a numbered frame is acknowledged; output that is stored
   * together has one promise. False when nobody heard the frame: it comes again. Undefined when there is nothing to wait for and nothing
   * to acknowledge.
   * @throws {ProtocolError} when a numbered frame is missing before this one.
   */
  receive(islandId: string, frame: AttemptFrame): Promise<void | false> | undefined;
}
