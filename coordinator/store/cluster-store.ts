import { credentialChangeSteps } from "./accounts/credential-changes.ts";
import { UNFINISHED } from "./jobs/job-guards.ts";
import { activeColumns } from "./jobs/job-reads.ts";
import type { ActiveJobRecord } from "./jobs/job-store.ts";
import { jobTable } from "./jobs/job-tables.ts";
import { openStore, read, write, type Opened, type RunStep } from "./steps/steps.ts";
import { DATABASE_NOW_MS, selectIds } from "./steps/tx.ts";

/** A coordinator with a membership lease. */
export interface Peer {
  /** Id of the process, generated at each start. */
  readonly id: string;
  /** Address for clients and for Islands that another coordinator redirects in `goodbye`. */
  readonly address: string;
  readonly version: string;
}

/** Another coordinator now owns the unfinished job. The write changed nothing; the caller drops the job. */
export class NotOwnerError extends Error {
  override readonly name = "NotOwnerError";
  readonly jobId: string;
  readonly ownerId: string | null;
  constructor(jobId: string, ownerId: string | null) {
    super(`Job ${jobId} now belongs to coordinator ${ownerId ?? "(unknown)"}`);
    this.jobId = jobId;
    this.ownerId = ownerId;
  }
}

/** Counts of takeovers since the store was opened. */
export interface TakenOver {
  readonly adopted: number;
  /** Number of jobs that were claimed because the Island that runs them connected to this coordinator. */
  readonly claimed: number;
  /** Number of coordinators whose row this coordinator deleted after their lease expired. */
  readonly reaped: number;
}

/**
 * Quota slots: an unfinished job with one counts against its account's limit. Several coordinators share them. A single
 * job takes its slot when stored (`NewJob.maxJobs`), as do the jobs of a batch that fit (`NewBatch.slotLimit`). The
 * commit of the job's end frees the slot.
 */
export interface QuotaSlots {
  /**
   * Assigns slots to waiting jobs of this coordinator, in order, up to `limit` slots of the account. Resolves with the
   * jobs that now have a slot, even if they had it before.
   * @param jobIds jobs of the account, at most {@link MAX_REQUESTED_SLOTS}.
   */
  take(accountId: string, jobIds: readonly string[], limit: number): Promise<readonly string[]>;
}

export const MAX_REQUESTED_SLOTS = 1_000;

/** SQL: owners of unfinished jobs without a membership row. The recursion reads one index entry per owner. */
const DEAD_OWNERS = `WITH RECURSIVE owners AS (
    (SELECT owner_id FROM jobs WHERE completed_at_ms IS NULL ORDER BY owner_id LIMIT 1)
    UNION ALL
    SELECT (SELECT owner_id FROM jobs WHERE completed_at_ms IS NULL AND owner_id > owners.owner_id ORDER BY owner_id LIMIT 1)
    FROM owners WHERE owner_id IS NOT NULL)
  SELECT owner_id AS id FROM owners
  WHERE owner_id <> @selfId AND NOT EXISTS (SELECT 1 FROM coordinators WHERE id = owner_id)`;

/** Membership leases. They use a separate connection so that other queries cannot delay a renewal. */
const leaseSteps = {
  /** Extends the lease to `leaseMs` from now. If the lease was reaped, creates it again and returns false. */
  renew: read(async (tx, self: Omit<Peer, "id">, leaseMs: number): Promise<boolean> => {
    const values = { ...self, leaseMs };
    const update = `UPDATE coordinators SET lease_until_ms = ${DATABASE_NOW_MS} + @leaseMs, address = @address, version = @version
      WHERE id = @selfId`;
    if ((await tx.run(update, values)) === 1) return true;
    const insert = `INSERT INTO coordinators (id, address, version, lease_until_ms)
      VALUES (@selfId, @address, @version, ${DATABASE_NOW_MS} + @leaseMs)`;
    await tx.run(insert, values);
    return false;
  }),

  /** Returns the coordinators with a valid lease, including this one, sorted by id. */
  peers: read((tx) =>
    tx.all<Peer>(`SELECT id, address, version FROM coordinators WHERE lease_until_ms > ${DATABASE_NOW_MS} ORDER BY id`),
  ),

  /** Deletes the lease. Other coordinators may then adopt the jobs that it still owns. */
  leave: read(async (tx): Promise<void> => {
    await tx.run("DELETE FROM coordinators WHERE id = @selfId");
  }),

  /** Returns the time of the database in ms since the epoch. */
  nowMs: read(async (tx) => (await tx.only<{ nowMs: number }>(`SELECT ${DATABASE_NOW_MS}::bigint AS "nowMs"`)).nowMs),
};

/**
 * Ownership of unfinished jobs. A write of a job that another coordinator owns throws {@link NotOwnerError}. In a
 * `read` step each statement commits separately.
 */
const ownerSteps = {
  /** Deletes the rows of other coordinators whose lease has expired. Resolves with their number. */
  reap: read((tx) =>
    tx.run(`DELETE FROM coordinators WHERE id IN (
      SELECT id FROM coordinators WHERE lease_until_ms <= ${DATABASE_NOW_MS} AND id <> @selfId ORDER BY id FOR UPDATE SKIP LOCKED)`),
  ),

  /** Adopts at most `limit` jobs of dead coordinators, each job for one caller only. Resolves with their sorted ids. */
  adopt: read(async (tx, limit: number): Promise<string[]> => {
    const goneIds = await selectIds(tx, DEAD_OWNERS, {});
    if (goneIds.length === 0) return [];
    const sql = `UPDATE jobs SET owner_id = @selfId WHERE id IN (
        SELECT id FROM jobs WHERE completed_at_ms IS NULL AND owner_id = ANY (@goneIds)
          AND NOT EXISTS (SELECT 1 FROM coordinators WHERE coordinators.id = jobs.owner_id)
        ORDER BY id LIMIT @limit FOR UPDATE SKIP LOCKED)
      RETURNING id`;
    return (await selectIds(tx, sql, { goneIds, limit })).sort();
  }),

  /**
   * Transfers jobs to another coordinator, in one commit. Resolves with the sorted ids of the jobs that were pending
   * and owned by this coordinator. Locks rows in order of id, as commits of several ends do, to prevent deadlocks.
   */
  transfer: write(async (tx, jobIds: readonly string[], toId: string): Promise<string[]> => {
    const sql = `WITH moving AS (
        SELECT id FROM jobs WHERE id = ANY (@jobIds) AND owner_id = @selfId AND state = 'pending' ORDER BY id FOR UPDATE)
      UPDATE jobs SET owner_id = @toId FROM moving WHERE jobs.id = moving.id RETURNING jobs.id`;
    return (await selectIds(tx, sql, { jobIds, toId })).sort();
  }),

  /**
   * Claims a job whose attempt runs on an Island that connected here; the caller has checked the attempt token. Returns
   * undefined unless the attempt is the stored one, or a later one that a dead coordinator assigned but did not store.
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

  owned: read((tx, jobIds: readonly string[]) =>
    jobTable.rows<ActiveJobRecord>(
      tx,
      `SELECT ${activeColumns(tx)} FROM jobs
       WHERE id = ANY (@jobIds) AND owner_id = @selfId AND state IN (${UNFINISHED}) ORDER BY id`,
      { jobIds },
    ),
  ),

  /** Returns sorted ids of this coordinator's unfinished jobs after `afterId` (empty to start at the first). */
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
  /** Returns the number of a new session, higher than all earlier numbers at any coordinator. */
  nextNumber: read(
    async (tx) => (await tx.only<{ number: number }>("SELECT nextval('island_sessions') AS number")).number,
  ),
};
export type IslandSessions = Opened<typeof islandSessionSteps>;

export type ClusterStore = ReturnType<typeof openCluster>;

/** Shared state of the coordinators. With `isShared`, other coordinators may use the same storage. */
export type Cluster = ClusterStore | NetworkOfOne;

type NetworkOfOne = Omit<
  ClusterStore,
  "adopt" | "credentialChanges" | "isShared" | "leave" | "noteReturn" | "nowMs" | "quotaSlots" | "reap" | "renew"
> & { readonly isShared: false; readonly quotaSlots: null };

/** Returns the state of a single coordinator, which has every unfinished job in memory and needs no lease. */
export function networkOfOne(selfId: string): NetworkOfOne {
  let sessions = 0;
  return {
    isShared: false,
    selfId,
    /** Null: a single coordinator counts quota slots in memory. */
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

/** Opens the state that several coordinators share. `runLease` runs steps on the connection of the lease. */
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
    /** Returns the owner's id; undefined if the job has ended or is unknown. */
    ownerOf: async (jobId: string): Promise<string | undefined> => (await owners.ownersOf([jobId])).get(jobId),
    /**
     * Calls `listener` whenever storage becomes writable again, until the returned function is called. The reply to a
     * commit may have been lost before, so storage may contain rows that this coordinator does not know.
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
