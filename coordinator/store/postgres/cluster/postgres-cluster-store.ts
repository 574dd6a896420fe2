import type { ClusterStore, Peer } from "../../cluster-store.ts";
import type { ActiveJobRecord } from "../../job-store.ts";
import { credentialChangeSteps, type CredentialChanges } from "../../credential-changes.ts";
import { openStore } from "../../steps.ts";
import type { IslandSessions } from "../../island-sessions.ts";
import { UNFINISHED } from "../../job-guards.ts";
import type { JobPlaces } from "../../job-places.ts";
import { postgresSteps } from "../engine/postgres-steps.ts";
import type { BatchWriter } from "../engine/batch-writer.ts";
import type { Database } from "../engine/database.ts";
import type { LeaseConnection } from "../engine/lease-connection.ts";
import { PostgresIslandSessions } from "../islands/postgres-island-sessions.ts";
import { activeColumns } from "../../job-reads.ts";
import { PostgresJobPlaces } from "../jobs/postgres-job-places.ts";

const ACTIVE_COLUMNS = activeColumns({ dialect: "postgres" });
const NOW = "extract(epoch FROM clock_timestamp()) * 1000";
/** Owners of unfinished jobs, one index entry each, that are no coordinators any more. */
const GONE = `WITH RECURSIVE owners AS (
    (SELECT owner_id FROM jobs WHERE completed_at_ms IS NULL ORDER BY owner_id LIMIT 1)
    UNION ALL
    SELECT (SELECT owner_id FROM jobs WHERE completed_at_ms IS NULL AND owner_id > owners.owner_id ORDER BY owner_id LIMIT 1)
    FROM owners WHERE owner_id IS NOT NULL)
  SELECT owner_id AS id FROM owners WHERE owner_id <> $1 AND NOT EXISTS (SELECT 1 FROM coordinators WHERE id = owner_id)`;

export class PostgresClusterStore implements ClusterStore {
  readonly selfId: string;
  readonly credentialChanges: CredentialChanges;
  readonly islandSessions: IslandSessions;
  readonly places: JobPlaces;
  readonly takenOver = { adopted: 0, claimed: 0, reaped: 0 };
  readonly #db: Database;
  readonly #lease: LeaseConnection;
  readonly #onReturn = new Set<() => void>();

  constructor(db: Database, writer: BatchWriter, lease: LeaseConnection, selfId: string) {
    this.#db = db;
    this.#lease = lease;
    this.credentialChanges = openStore("credentialChanges", credentialChangeSteps, postgresSteps(db, selfId));
    this.islandSessions = new PostgresIslandSessions(db);
    this.places = new PostgresJobPlaces(writer);
    this.selfId = selfId;
  }

  renew({ address, version }: Omit<Peer, "id">, leaseMs: number): Promise<boolean> {
    return this.#lease.use(async (session) => {
      const values = [this.selfId, leaseMs, address, version];
      const renewed = await session.run(
        `UPDATE coordinators SET lease_until_ms = ${NOW} + $2, address = $3, version = $4 WHERE id = $1`,
        values,
      );
      if (renewed === 1) return true;
      await session.run(
        `INSERT INTO coordinators (id, address, version, lease_until_ms) VALUES ($1, $3, $4, ${NOW} + $2)`,
        values,
      );
      return false;
    });
  }

  peers(): Promise<Peer[]> {
    return this.#lease.use((session) =>
      session.all<Peer>(`SELECT id, address, version FROM coordinators WHERE lease_until_ms > ${NOW} ORDER BY id`),
    );
  }

  reap(): Promise<number> {
    return this.#db.use(async (session) => {
      const reaped = await session.run(
        `DELETE FROM coordinators WHERE id IN (
           SELECT id FROM coordinators WHERE lease_until_ms <= ${NOW} AND id <> $1 ORDER BY id FOR UPDATE SKIP LOCKED)`,
        [this.selfId],
      );
      this.takenOver.reaped += reaped;
      return reaped;
    });
  }

  adopt(limit: number): Promise<string[]> {
    return this.#db.use(async (session) => {
      const gone = await session.all<{ id: string }>(GONE, [this.selfId]);
      if (gone.length === 0) return [];
      const rows = await session.all<{ id: string }>(
        `UPDATE jobs SET owner_id = $1 WHERE id IN (
           SELECT id FROM jobs WHERE completed_at_ms IS NULL AND owner_id = ANY ($2)
             AND NOT EXISTS (SELECT 1 FROM coordinators WHERE coordinators.id = jobs.owner_id)
           ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED)
         RETURNING id`,
        [this.selfId, gone.map(({ id }) => id), limit],
      );
      this.takenOver.adopted += rows.length;
      return rows.map(({ id }) => id).sort();
    });
  }

  leave(): Promise<void> {
    return this.#lease.use(async (session) => {
      await session.run("DELETE FROM coordinators WHERE id = $1", [this.selfId]);
    });
  }

  transfer(jobIds: readonly string[], toId: string): Promise<string[]> {
    return this.#db.runOne(async (session) => {
      const rows = await session.all<{ id: string }>(
        // Locked in order of their ids, as commits of several ends lock them.
        `WITH moving AS (
           SELECT id FROM jobs WHERE id = ANY ($1) AND owner_id = $2 AND state = 'pending' ORDER BY id FOR UPDATE)
         UPDATE jobs SET owner_id = $3 FROM moving WHERE jobs.id = moving.id RETURNING jobs.id`,
        [jobIds, this.selfId, toId],
      );
      return rows.map(({ id }) => id).sort();
    });
  }

  claim(attempt: Parameters<ClusterStore["claim"]>[0]): Promise<ActiveJobRecord | undefined> {
    return this.#db.use(async (session) => {
      const record = await session.one<ActiveJobRecord>(
        `UPDATE jobs SET owner_id = $4 WHERE id = $1 AND completed_at_ms IS NULL
           AND (attempt = $2 AND (island_id = $3 OR lost_island_id = $3 AND state = 'pending')
             OR attempt < $2 AND state = 'pending')
         RETURNING ${ACTIVE_COLUMNS}`,
        [attempt.jobId, attempt.attempt, attempt.islandId, this.selfId],
      );
      if (record !== undefined) this.takenOver.claimed += 1;
      return record;
    });
  }

  owned(jobIds: readonly string[]): Promise<ActiveJobRecord[]> {
    return this.#db.use((session) =>
      session.all<ActiveJobRecord>(
        `SELECT ${ACTIVE_COLUMNS} FROM jobs WHERE id = ANY ($1) AND owner_id = $2 AND state IN (${UNFINISHED}) ORDER BY id`,
        [jobIds, this.selfId],
      ),
    );
  }

  ownedIds(afterId: string, limit: number): Promise<string[]> {
    return this.#db.use(async (session) => {
      const rows = await session.all<{ id: string }>(
        "SELECT id FROM jobs WHERE completed_at_ms IS NULL AND owner_id = $1 AND id > $2 ORDER BY id LIMIT $3",
        [this.selfId, afterId, limit],
      );
      return rows.map(({ id }) => id);
    });
  }

  ownerOf(jobId: string): Promise<string | undefined> {
    return this.#db.use(async (session) => {
      const sql = `SELECT owner_id AS "ownerId" FROM jobs WHERE id = $1 AND completed_at_ms IS NULL`;
      return (await session.one<{ ownerId: string }>(sql, [jobId]))?.ownerId;
    });
  }

  ownersOf(jobIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#db.use(async (session) => {
      const rows = await session.all<{ id: string; ownerId: string }>(
        `SELECT id, owner_id AS "ownerId" FROM jobs WHERE id = ANY ($1) AND state IN (${UNFINISHED})`,
        [jobIds],
      );
      return new Map(rows.map(({ id, ownerId }) => [id, ownerId]));
    });
  }

  onReturn(listener: () => void): () => void {
    this.#onReturn.add(listener);
    return () => this.#onReturn.delete(listener);
  }

  /** Storage can be written again. */
  noteReturn(): void {
    for (const listener of this.#onReturn) listener();
  }

  nowMs(): Promise<number> {
    return this.#lease.use(async (session) => {
      const row = await session.one<{ nowMs: number }>(`SELECT (${NOW})::bigint AS "nowMs"`);
      if (row === undefined) throw new Error("The database did not say what time it is");
      return row.nowMs;
    });
  }
}
