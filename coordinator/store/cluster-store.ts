import type { CredentialChanges } from "./credential-changes.ts";
import type { IslandSessions } from "./island-sessions.ts";
import type { JobPlaces } from "./job-places.ts";
import type { ActiveJobRecord } from "./job-store.ts";

/** A coordinator of the network. Its id is made at each start, so that an id that is gone never comes back. */
export interface Peer {
  readonly id: string;
  /** Where other coordinators' clients and Islands reach it; for people and `goodbye`. */
  readonly address: string;
  readonly version: string;
}

/** An unfinished job belongs to another coordinator by now. Nothing was written; the caller drops the job. */
export class NotOwnerError extends Error {
  override readonly name = "NotOwnerError";
  readonly jobId: string;
  /** Null where it is not known. */
  readonly ownerId: string | null;
  constructor(jobId: string, ownerId: string | null) {
    super(`Job ${jobId} belongs to coordinator ${ownerId ?? "(unknown)"} now`);
    this.jobId = jobId;
    this.ownerId = ownerId;
  }
}

/** What a coordinator took over, since its store was opened. */
export interface TakenOver {
  /** Jobs of coordinators that were gone. */
  readonly adopted: number;
  /** Jobs that their Islands brought. */
  readonly claimed: number;
  /** Coordinators that it removed, because their lease was over. */
  readonly reaped: number;
}

/**
 * Which coordinators live, and whose an unfinished job is. Every job is its submitter's first; each write of a job names the owner, and
 * throws {@link NotOwnerError} when that is another one. All times are those of the database.
 */
export interface ClusterStore {
  /** Id of this coordinator. */
  readonly selfId: string;
  readonly credentialChanges: CredentialChanges;
  readonly islandSessions: IslandSessions;
  readonly places: JobPlaces;
  readonly takenOver: TakenOver;
  /**
   * Notes that this coordinator lives for `leaseMs` from now. False when its lease was over and another has taken its jobs; it is noted
   * anew then.
   */
  renew(self: Omit<Peer, "id">, leaseMs: number): Promise<boolean>;
  /** Those whose lease is not over, this one included, sorted by id. */
  peers(): Promise<Peer[]>;
  /** Removes the other coordinators whose lease is over: what they own is anybody's. Resolves with their number. */
  reap(): Promise<number>;
  /**
   * Takes over at most `limit` unfinished jobs of coordinators that left or were removed. Of several who try, one gets each. Resolves
   * with the ids.
   */
  adopt(limit: number): Promise<string[]>;
  /** Ends the lease of this coordinator. What it still owns is anybody's. */
  leave(): Promise<void>;
  /** Gives waiting jobs to another coordinator, in one commit. Resolves with those that were this one's, and no Island's. */
  transfer(jobIds: readonly string[], toId: string): Promise<string[]>;
  /**
   * Takes over a job whose attempt an Island has that came to this coordinator. The caller has checked its proof. Undefined when that is
   * not the job's present attempt, nor one after it that was given out and not stored, as its coordinator died.
   */
  claim(attempt: {
    readonly jobId: string;
    readonly attempt: number;
    readonly islandId: string;
  }): Promise<ActiveJobRecord | undefined>;
  /** Those of these jobs that are this coordinator's and have not ended. */
  owned(jobIds: readonly string[]): Promise<ActiveJobRecord[]>;
  /** Ids of this coordinator's unfinished jobs that follow `afterId` (empty: from the first), sorted. */
  ownedIds(afterId: string, limit: number): Promise<string[]>;
  /** Id of the owner of an unfinished job; undefined for one that has ended or is not known. */
  ownerOf(jobId: string): Promise<string | undefined>;
  /** Owners of those of these jobs that have not ended, by job. */
  ownersOf(jobIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The clock of the database, in ms since the epoch. */
  nowMs(): Promise<number>;
  /**
   * Calls `listener` whenever storage can be written again after it could not: answers to commits may be lost, so that something is stored
   * that nobody here knows of. Until the returned function is called.
   */
  onReturn(listener: () => void): () => void;
}
