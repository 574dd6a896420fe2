import type { Hardware } from "../../shared/hardware.ts";
import type { RuntimeReport } from "../../shared/protocol/from-island.ts";

/** What an Island last reported about itself. */
export interface IslandReport {
  /** UUID that the agent made when it was first started. */
  readonly hostId: string;
  readonly accountId: string;
  readonly agentVersion: string;
  /** Of the machine; null: the agent does not tell. */
  readonly hostName: string | null;
  readonly hardware: Hardware;
  readonly runtimes: readonly RuntimeReport[];
  readonly lastSeenAtMs: number;
}

export interface IslandRecord extends IslandReport {
  /** By its owner; null: none. */
  readonly name: string | null;
  readonly firstSeenAtMs: number;
}

/** `removed`: its owner sent it away after the token was made that it brings. */
export type SaveOutcome = "saved" | "of_another" | "removed";

/** Hosts of one account that are stored. Beyond it, the one unseen for longest is forgotten. */
export const MAX_HOSTS = 1_000;

export interface IslandStore {
  /**
   * Creates or updates; changes nothing unless `saved`. A removed Island is as new with a token that was made after the removal, and with
   * a token of another account. Keeps {@link MAX_HOSTS} of an account.
   */
  save(island: IslandReport, tokenCreatedAtMs: number): Promise<SaveOutcome>;
  get(hostId: string): Promise<IslandRecord | undefined>;
  /** In any order, without those that are unknown. */
  getAll(hostIds: readonly string[]): Promise<IslandRecord[]>;
  /** All Islands of an account. */
  ofAccount(accountId: string): Promise<Pick<IslandRecord, "hostId" | "lastSeenAtMs">[]>;
  /** `name` null: none. False if the account has no such Island. */
  rename(accountId: string, hostId: string, name: string | null): Promise<boolean>;
  /** Forgets all of the Island but that it was removed. False if the account has no such Island. */
  remove(accountId: string, hostId: string, atMs: number): Promise<boolean>;
  /** Those of these Islands that were removed. */
  removedOf(hostIds: readonly string[]): Promise<string[]>;
  /** Notes that these Islands are connected. Unknown ids are ignored. */
  touch(hostIds: readonly string[], atMs: number): Promise<void>;
  /** Forgets Islands that were last seen at or before `seenByMs`; at most `limit`. Resolves with their number. */
  forgetUnseen(seenByMs: number, limit: number): Promise<number>;
  /** Whether any Island has ever joined. */
  hasAny(): Promise<boolean>;
}
