import { credentialChangeSteps } from "./accounts/credential-changes.ts";
import { UNFINISHED } from "./jobs/job-guards.ts";
import { activeColumns } from "./jobs/job-reads.ts";
import type { ActiveJobRecord } from "./jobs/job-store.ts";
import { jobTable } from "./jobs/job-tables.ts";
import { openStore, read, write, type Opened, type RunStep } from "./steps/steps.ts";
import type { Tx } from "./steps/tx.ts";

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
 * Places of unfinished jobs under the limits of their accounts, in a store that several coordinators share. A job of its own takes its
 * place as it is stored (`NewJob.maxJobs`), and so do the jobs of a batch for which there is room (`NewBatch.placeLimit`). Every job gives
 * it back as its end is stored, whichever coordinator has it by then.
 */
export interface JobPlaces {
  /**
   * Gives places to jobs of this coordinator that wait for one: to the first of them for which the account's limit leaves room. Resolves
   * with those that have one, now or before.
   * @param jobIds of one account, at most {@link MAX_ASKED_PLACES}.
   * @param limit most unfinished jobs of the account.
   */
  take(accountId: string, jobIds: readonly string[], limit: number): Promise<readonly string[]>;
}

export const MAX_ASKED_PLACES = 1_000;

const NOW_MS = "extract(epoch FROM clock_timestamp()) * 1000";
/** Owners of unfinished jobs, one index entry each, that are no coordinators any more. */
const GONE = `WITH RECURSIVE owners AS (
    (SELECT owner_id FROM jobs WHERE completed_at_ms IS NULL ORDER BY owner_id LIMIT 1)
    UNION ALL
    SELECT (SELECT owner_id FROM jobs WHERE completed_at_ms IS NULL AND owner_id > owners.owner_id ORDER BY owner_id LIMIT 1)
    FROM owners WHERE owner_id IS NOT NULL)
  SELECT owner_id AS id FROM owners
  WHERE owner_id <> @selfId AND NOT EXISTS (SELECT 1 FROM coordinators WHERE id = owner_id)`;

async function idsOf(tx: Tx, sql: string, values: object): Promise<string[]> {
  return (await tx.all<{ id: string }>(sql, values)).map(({ id }) => id);
}

/** Which coordinators live. They have a connection of their own. All times are those of the database. */
const leaseSteps = {
  /**
   * Notes that this coordinator lives for `leaseMs` from now. False when its lease was over and another has taken its jobs; it is noted
   * again then.
   */
  renew: read(async (tx, self: Omit<Peer, "id">, leaseMs: number): Promise<boolean> => {
    const values = { ...self, leaseMs };
    const update = `UPDATE coordinators SET lease_until_ms = ${NOW_MS} + @leaseMs, address = @address, version = @version
      WHERE id = @selfId`;
    if ((await tx.run(update, values)) === 1) return true;
    const insert = `INSERT INTO coordinators (id, address, version, lease_until_ms)
      VALUES (@selfId, @address, @version, ${NOW_MS} + @leaseMs)`;
    await tx.run(insert, values);
    return false;
  }),

  /** Those whose lease is not over, this one included, sorted by id. */
  peers: read((tx) =>
    tx.all<Peer>(`SELECT id, address, version FROM coordinators WHERE lease_until_ms > ${NOW_MS} ORDER BY id`),
  ),

  /** Ends the lease of this coordinator. Any other may adopt what it still owns. */
  leave: read(async (tx): Promise<void> => {
    await tx.run("DELETE FROM coordinators WHERE id = @selfId");
  }),

  /** The clock of the database, in ms since the epoch. */
  nowMs: read(async (tx) => (await tx.only<{ nowMs: number }>(`SELECT (${NOW_MS})::bigint AS "nowMs"`)).nowMs),
};

/**
 * Whose an unfinished job is. Every job is its submitter's first; each write of a job names the owner, and throws {@link NotOwnerError}
 * when that is another one. Statements of reads commit one by one.
 */
const ownerSteps = {
  /** Removes the other coordinators whose lease is over. Any may adopt what they own. Resolves with their number. */
  reap: read((tx) =>
    tx.run(`DELETE FROM coordinators WHERE id IN (
      SELECT id FROM coordinators WHERE lease_until_ms <= ${NOW_MS} AND id <> @selfId ORDER BY id FOR UPDATE SKIP LOCKED)`),
  ),

  /**
   * Takes over at most `limit` unfinished jobs of coordinators that left or were removed. Of several who try, one gets each. Resolves
   * with the ids, sorted.
   */
  adopt: read(async (tx, limit: number): Promise<string[]> => {
    const goneIds = await idsOf(tx, GONE, {});
    if (goneIds.length === 0) return [];
    const sql = `UPDATE jobs SET owner_id = @selfId WHERE id IN (
        SELECT id FROM jobs WHERE completed_at_ms IS NULL AND owner_id = ANY (@goneIds)
          AND NOT EXISTS (SELECT 1 FROM coordinators WHERE coordinators.id = jobs.owner_id)
        ORDER BY id LIMIT @limit FOR UPDATE SKIP LOCKED)
      RETURNING id`;
    return (await idsOf(tx, sql, { goneIds, limit })).sort();
  }),

  /**
   * Gives waiting jobs to another coordinator, in one commit. Resolves with those that were this one's, and no Island's. They are locked in
   * order of their ids, as commits of several ends lock them.
   */
  transfer: write(async (tx, jobIds: readonly string[], toId: string): Promise<string[]> => {
    const sql = `WITH moving AS (
        SELECT id FROM jobs WHERE id = ANY (@jobIds) AND owner_id = @selfId AND state = 'pending' ORDER BY id FOR UPDATE)
      UPDATE jobs SET owner_id = @toId FROM moving WHERE jobs.id = moving.id RETURNING jobs.id`;
    return (await idsOf(tx, sql, { jobIds, toId })).sort();
  }),

  /**
   * Takes over a job whose attempt an Island has that came to this coordinator. The caller has checked its proof. Undefined when that is
   * not the job's present attempt, nor one after it that was given out and not stored, as its coordinator died.
   */
  claim: read((tx, attempt: { readonly jobId: string; readonly attempt: number; readonly islandId: string }) =>
    jobTable.row<ActiveJobRecord>(
      tx,
      `UPDATE jobs SET owner_id = @selfId WHERE id = @jobId AND completed_at_ms IS NULL
         AND (attempt = @attempt AND (island_id = @islandId OR lost_island_id = @islandId AND state = 'pending')
           OR attempt < @attempt AND state = 'pending')
       RETURNING ${activeColumns(tx)}`,
      attempt,
    ),
  ),

  /** Those of these jobs that are this coordinator's and have not ended. */
  owned: read((tx, jobIds: readonly string[]) =>
    jobTable.rows<ActiveJobRecord>(
      tx,
      `SELECT ${activeColumns(tx)} FROM jobs
       WHERE id = ANY (@jobIds) AND owner_id = @selfId AND state IN (${UNFINISHED}) ORDER BY id`,
      { jobIds },
    ),
  ),

  /** Ids of this coordinator's unfinished jobs that follow `afterId` (empty: from the first), sorted. */
  ownedIds: read((tx, afterId: string, limit: number) =>
    idsOf(
      tx,
      `SELECT id FROM jobs WHERE completed_at_ms IS NULL AND owner_id = @selfId AND id > @afterId ORDER BY id LIMIT @limit`,
      { afterId, limit },
    ),
  ),

  ownersOf: read(async (tx, jobIds: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    const sql = `SELECT ${jobTable.columns("id", "ownerId")} FROM jobs
      WHERE id = ANY (@jobIds) AND state IN (${UNFINISHED})`;
    const rows = await tx.all<{ id: string; ownerId: string }>(sql, { jobIds });
    return new Map(rows.map(({ id, ownerId }) => [id, ownerId]));
  }),
};

/** They tell the sessions of Islands apart where several coordinators have them. */
const islandSessionSteps = {
  /** The number of a session that has just begun: higher than those of all that began before, at any coordinator. */
  nextNumber: read(
    async (tx) => (await tx.only<{ number: number }>("SELECT nextval('island_sessions') AS number")).number,
  ),
};
export type IslandSessions = Opened<typeof islandSessionSteps>;

export type ClusterStore = ReturnType<typeof openCluster>;

/**
 * What a coordinator knows by storage of its network: who lives, and whose an unfinished job is. `isShared`: whether other coordinators
 * may use the same storage.
 */
export type Cluster = ClusterStore | NetworkOfOne;

type NetworkOfOne = Pick<
  ClusterStore,
  | "claim"
  | "islandSessions"
  | "onReturn"
  | "owned"
  | "ownedIds"
  | "ownerOf"
  | "ownersOf"
  | "peers"
  | "selfId"
  | "takenOver"
  | "transfer"
> & { readonly isShared: false; readonly places: null };

/** Every unfinished job is in its coordinator's memory, so no answer reads storage, and there is no lease. */
export function networkOfOne(selfId: string): NetworkOfOne {
  let sessions = 0;
  return {
    isShared: false,
    selfId,
    /** Jobs of batches get theirs in memory. */
    places: null,
    takenOver: { adopted: 0, claimed: 0, reaped: 0 },
    islandSessions: { nextNumber: async () => (sessions += 1) },
    peers: async () => [],
    transfer: async () => [],
    claim: async () => undefined,
    owned: async () => [],
    ownedIds: async () => [],
    ownerOf: async () => undefined,
    ownersOf: async () => new Map(),
    onReturn: () => () => undefined,
  };
}

/** What several coordinators share: in PostgreSQL. `runLease` runs steps on a connection that no other call waits for. */
export function openCluster(selfId: string, run: RunStep, runLease: RunStep, take: JobPlaces["take"]) {
  const owners = openStore("owners", ownerSteps, run);
  const counts = { adopted: 0, claimed: 0, reaped: 0 };
  const takenOver: TakenOver = counts;
  const places: JobPlaces = { take };
  const listeners = new Set<() => void>();
  return {
    ...openStore("leases", leaseSteps, runLease),
    ...owners,
    isShared: true as const,
    selfId,
    credentialChanges: openStore("credentialChanges", credentialChangeSteps, run),
    islandSessions: openStore("islandSessions", islandSessionSteps, run),
    places,
    takenOver,
    async reap(): Promise<number> {
      const reaped = await owners.reap();
      counts.reaped += reaped;
      return reaped;
    },
    async adopt(limit: number): Promise<string[]> {
      const adopted = await owners.adopt(limit);
      counts.adopted += adopted.length;
      return adopted;
    },
    async claim(...attempt: Parameters<typeof owners.claim>): Promise<ActiveJobRecord | undefined> {
      const record = await owners.claim(...attempt);
      if (record !== undefined) counts.claimed += 1;
      return record;
    },
    /** Id of the owner of an unfinished job; undefined for one that has ended or is not known. */
    ownerOf: async (jobId: string): Promise<string | undefined> => (await owners.ownersOf([jobId])).get(jobId),
    /**
     * Calls `listener` whenever storage can be written again after it could not: answers to commits may be lost, so that something is
     * stored that nobody here knows of. Until the returned function is called.
     */
    onReturn(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** Storage can be written again. */
    noteReturn(): void {
      for (const listener of listeners) listener();
    },
  };
}
