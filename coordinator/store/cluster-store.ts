import { credentialChangeSteps } from "./accounts/credential-changes.ts";
import { UNFINISHED } from "./jobs/job-guards.ts";
import { activeColumns } from "./jobs/job-reads.ts";
import type { ActiveJobRecord } from "./jobs/job-store.ts";
import { jobTable } from "./jobs/job-tables.ts";
import { openStore, read, write, type Opened, type RunStep } from "./steps/steps.ts";
import { DATABASE_NOW_MS as NOW_MS, selectIds } from "./steps/tx.ts";

export interface Peer {
  /** New at each start. */
  readonly id: string;
  /** Address for clients and Islands of other coordinators, sent in `goodbye`. */
  readonly address: string;
  readonly version: string;
}

/** The unfinished job now belongs to another coordinator. Nothing was written; the caller drops the job. */
export class NotOwnerError extends Error {
  override readonly name = "NotOwnerError";
  readonly jobId: string;
  /** Null if unknown. */
  readonly ownerId: string | null;
  constructor(jobId: string, ownerId: string | null) {
    super(`Job ${jobId} now belongs to coordinator ${ownerId ?? "(unknown)"}`);
    this.jobId = jobId;
    this.ownerId = ownerId;
  }
}

/** Counts since the store was opened. */
export interface TakenOver {
  /** Jobs of dead coordinators. */
  readonly adopted: number;
  /** Jobs claimed for the Islands that run them. */
  readonly claimed: number;
  /** Coordinators removed because their lease had expired. */
  readonly reaped: number;
}

/**
 * Quota slots of unfinished jobs under their accounts' limits, which several coordinators share. A single job takes its
 * slot when it is stored (`NewJob.maxJobs`), and so do the jobs of a batch that fit (`NewBatch.slotLimit`). The commit of
 * its end frees the slot.
 */
export interface QuotaSlots {
  /**
   * Assigns slots to waiting jobs of this coordinator, in order, as far as `limit` of the account's unfinished jobs allows.
   * Resolves with the jobs that have a slot, now or before.
   * @param jobIds of one account, at most {@link MAX_REQUESTED_SLOTS}.
   */
  take(accountId: string, jobIds: readonly string[], limit: number): Promise<readonly string[]>;
}

export const MAX_REQUESTED_SLOTS = 1_000;

/** Owners of unfinished jobs that are no longer members, found with one index entry each. */
const GONE = `WITH RECURSIVE owners AS (
    (SELECT owner_id FROM jobs WHERE completed_at_ms IS NULL ORDER BY owner_id LIMIT 1)
    UNION ALL
    SELECT (SELECT owner_id FROM jobs WHERE completed_at_ms IS NULL AND owner_id > owners.owner_id ORDER BY owner_id LIMIT 1)
    FROM owners WHERE owner_id IS NOT NULL)
  SELECT owner_id AS id FROM owners
  WHERE owner_id <> @selfId AND NOT EXISTS (SELECT 1 FROM coordinators WHERE id = owner_id)`;

/** Membership leases, on their own connection. All times are those of the database. */
const leaseSteps = {
  /** Extends the lease to `leaseMs` from now. Returns false if it was reaped; it is then created again. */
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

  /** Includes this coordinator. Sorted by id. */
  peers: read((tx) =>
    tx.all<Peer>(`SELECT id, address, version FROM coordinators WHERE lease_until_ms > ${NOW_MS} ORDER BY id`),
  ),

  /** Ends the lease. Any other coordinator may adopt the jobs that this one still owns. */
  leave: read(async (tx): Promise<void> => {
    await tx.run("DELETE FROM coordinators WHERE id = @selfId");
  }),

  /** Clock of the database, in ms since the epoch. */
  nowMs: read(async (tx) => (await tx.only<{ nowMs: number }>(`SELECT ${NOW_MS}::bigint AS "nowMs"`)).nowMs),
};

/**
 * Ownership of unfinished jobs. Writes of a job throw {@link NotOwnerError} if another coordinator owns it. Statements of
 * reads commit one by one.
 */
const ownerSteps = {
  /** Removes other coordinators whose lease has expired. Resolves with their number. */
  reap: read((tx) =>
    tx.run(`DELETE FROM coordinators WHERE id IN (
      SELECT id FROM coordinators WHERE lease_until_ms <= ${NOW_MS} AND id <> @selfId ORDER BY id FOR UPDATE SKIP LOCKED)`),
  ),

  /** Adopts unfinished jobs of coordinators that are no longer members. Resolves with at most `limit` sorted ids. */
  adopt: read(async (tx, limit: number): Promise<string[]> => {
    const goneIds = await selectIds(tx, GONE, {});
    if (goneIds.length === 0) return [];
    const sql = `UPDATE jobs SET owner_id = @selfId WHERE id IN (
        SELECT id FROM jobs WHERE completed_at_ms IS NULL AND owner_id = ANY (@goneIds)
          AND NOT EXISTS (SELECT 1 FROM coordinators WHERE coordinators.id = jobs.owner_id)
        ORDER BY id LIMIT @limit FOR UPDATE SKIP LOCKED)
      RETURNING id`;
    return (await selectIds(tx, sql, { goneIds, limit })).sort();
  }),

  /**
   * Transfers jobs to another coordinator, in one commit. Resolves with the sorted ids of those that this coordinator
   * owned and no Island had. Locks them in order of their ids, as commits of several ends do.
   */
  transfer: write(async (tx, jobIds: readonly string[], toId: string): Promise<string[]> => {
    const sql = `WITH moving AS (
        SELECT id FROM jobs WHERE id = ANY (@jobIds) AND owner_id = @selfId AND state = 'pending' ORDER BY id FOR UPDATE)
      UPDATE jobs SET owner_id = @toId FROM moving WHERE jobs.id = moving.id RETURNING jobs.id`;
    return (await selectIds(tx, sql, { jobIds, toId })).sort();
  }),

  /**
   * Claims a job whose attempt runs on an Island that connected here. The caller has checked the attempt token. Returns
   * undefined unless that is the current attempt, or a later one whose coordinator died before it was stored.
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

  /** Returns those of the unfinished jobs that this coordinator owns. */
  owned: read((tx, jobIds: readonly string[]) =>
    jobTable.rows<ActiveJobRecord>(
      tx,
      `SELECT ${activeColumns(tx)} FROM jobs
       WHERE id = ANY (@jobIds) AND owner_id = @selfId AND state IN (${UNFINISHED}) ORDER BY id`,
      { jobIds },
    ),
  ),

  /** Returns sorted ids of this coordinator's unfinished jobs after `afterId` (empty: from the first). */
  ownedIds: read((tx, afterId: string, limit: number) =>
    selectIds(
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

const islandSessionSteps = {
  /** Returns the number of a new session, higher than those of all earlier sessions at any coordinator. */
  nextNumber: read(
    async (tx) => (await tx.only<{ number: number }>("SELECT nextval('island_sessions') AS number")).number,
  ),
};
export type IslandSessions = Opened<typeof islandSessionSteps>;

export type ClusterStore = ReturnType<typeof openCluster>;

/** `isShared`: other coordinators may use the same storage. */
export type Cluster = ClusterStore | NetworkOfOne;

type NetworkOfOne = Omit<
  ClusterStore,
  "adopt" | "credentialChanges" | "isShared" | "leave" | "noteReturn" | "nowMs" | "quotaSlots" | "reap" | "renew"
> & { readonly isShared: false; readonly quotaSlots: null };

/** A network with one coordinator, which has every unfinished job in memory. It has no lease. */
export function networkOfOne(selfId: string): NetworkOfOne {
  let sessions = 0;
  return {
    isShared: false,
    selfId,
    /** Quota slots are counted in memory. */
    quotaSlots: null,
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

/** Opens the state that several coordinators share. `runLease` runs steps on a connection that no other call uses. */
export function openCluster(selfId: string, run: RunStep, runLease: RunStep, take: QuotaSlots["take"]) {
  const owners = openStore("owners", ownerSteps, run);
  const counts = { adopted: 0, claimed: 0, reaped: 0 };
  const listeners = new Set<() => void>();
  return {
    ...openStore("leases", leaseSteps, runLease),
    ...owners,
    isShared: true as const,
    selfId,
    credentialChanges: openStore("credentialChanges", credentialChangeSteps, run),
    islandSessions: openStore("islandSessions", islandSessionSteps, run),
    quotaSlots: { take },
    takenOver: counts as TakenOver,
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
    /** Returns undefined if the job has ended or is unknown. */
    ownerOf: async (jobId: string): Promise<string | undefined> => (await owners.ownersOf([jobId])).get(jobId),
    /**
     * Calls `listener` whenever storage becomes writable again, until the returned function is called. Replies to commits
     * may have been lost, so rows may be stored that this coordinator does not know of.
     */
    onReturn(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    noteReturn(): void {
      for (const listener of listeners) listener();
    },
  };
}
