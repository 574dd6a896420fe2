import type { Hardware } from "../../shared/hardware.ts";
import type { RuntimeReport } from "../../shared/protocol/from-island.ts";

/** An Island as it last reported itself. */
export interface IslandRecord {
  /** UUID that the agent made once. */
  readonly hostId: string;
  readonly accountId: string;
  readonly agentVersion: string;
  readonly hardware: Hardware;
  readonly runtimes: readonly RuntimeReport[];
  readonly lastSeenAtMs: number;
}

export interface IslandStore {
  /** Creates or updates. False, with nothing changed, when the host id belongs to another account. */
  save(island: IslandRecord): Promise<boolean>;
  get(hostId: string): Promise<IslandRecord | undefined>;
  /** Whether any Island was ever here. */
  hasAny(): Promise<boolean>;
}
