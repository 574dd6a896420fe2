import type { Hardware } from "../../shared/hardware.ts";
import type { RuntimeReport } from "../../shared/protocol/from-island.ts";

/** What an Island last reported about itself. */
export interface IslandRecord {
  /** UUID that the agent made when it was first started. */
  readonly hostId: string;
  readonly accountId: string;
  readonly agentVersion: string;
  readonly hardware: Hardware;
  readonly runtimes: readonly RuntimeReport[];
  readonly lastSeenAtMs: number;
}

/** Hosts of one account that are stored. Beyond it, the one unseen for longest is forgotten. */
export const MAX_HOSTS = 1_000;

export interface IslandStore {
  /**
   * Creates or updates. Returns false and changes nothing if the host id belongs to another account. Keeps {@link MAX_HOSTS} of an
   * account.
   */
  save(island: IslandRecord): Promise<boolean>;
  get(hostId: string): Promise<IslandRecord | undefined>;
  /** Notes that these Islands are connected. Unknown ids are ignored. */
  touch(hostIds: readonly string[], atMs: number): Promise<void>;
  /** Forgets Islands that were last seen at or before `seenByMs`; at most `limit`. Resolves with their number. */
  forgetUnseen(seenByMs: number, limit: number): Promise<number>;
  /** Whether any Island has ever joined. */
  hasAny(): Promise<boolean>;
}
