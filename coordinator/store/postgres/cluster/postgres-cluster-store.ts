import type { ClusterStore, Peer } from "../../cluster-store.ts";
import type { ActiveJobRecord } from "../../job-store.ts";
import type { Database } from "../engine/database.ts";
import { ACTIVE_COLUMNS } from "../jobs/job-columns.ts";

const NOW = "extract(epoch FROM clock_timestamp()) * 1000";

export class PostgresClusterStore implements ClusterStore {
  readonly selfId: string;
  readonly #db: Database;

  constructor(db: Database, selfId: string) {
    this.#db = db;
    this.selfId = selfId;
  }

  renew({ address, version }: Omit<Peer, "id">, leaseMs: number): Promise<boolean> {
    return this.#db.transact(async (session) => {
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
    return this.#db.use((session) =>
      session.all<Peer>(`SELECT id, address, version FROM coordinators WHERE lease_until_ms > ${NOW} ORDER BY id`),
    );
  }

  adopt(): Promise<number> {
    return this.#db.transact(async (session) => {
      // Who deletes the row of a dead coordinator takes its jobs; others find neither.
      await session.run(
        `DELETE FROM coordinators WHERE id IN (
           SELECT id FROM coordinators WHERE lease_until_ms <= ${NOW} AND id <> $1 ORDER BY id FOR UPDATE SKIP LOCKED)`,
        [this.selfId],
      );
      return session.run(
        `UPDATE jobs SET owner_id = $1 WHERE completed_at_ms IS NULL AND id IN (
           SELECT id FROM jobs WHERE completed_at_ms IS NULL AND owner_id <> $1
             AND NOT EXISTS (SELECT 1 FROM coordinators WHERE coordinators.id = jobs.owner_id)
           ORDER BY id FOR UPDATE SKIP LOCKED)`,
        [this.selfId],
      );
    });
  }

  leave(): Promise<void> {
    return this.#db.use(async (session) => {
      await session.run("DELETE FROM coordinators WHERE id = $1", [this.selfId]);
    });
  }

  transfer(jobIds: readonly string[], toId: string): Promise<string[]> {
    return this.#db.use(async (session) => {
      const rows = await session.all<{ id: string }>(
        `UPDATE jobs SET owner_id = $3 WHERE state = 'pending' AND id IN (
           SELECT id FROM jobs WHERE id = ANY ($1) AND owner_id = $2 AND state = 'pending' ORDER BY id FOR UPDATE)
         RETURNING id`,
        [jobIds, this.selfId, toId],
      );
      return rows.map(({ id }) => id).sort();
    });
  }

  claim(attempt: Parameters<ClusterStore["claim"]>[0]): Promise<ActiveJobRecord | undefined> {
    return this.#db.use((session) =>
      session.one<ActiveJobRecord>(
        `UPDATE jobs SET owner_id = $4 WHERE id = $1 AND attempt = $2 AND completed_at_ms IS NULL
           AND (island_id = $3 OR island_id IS NULL AND state = 'pending')
         RETURNING ${ACTIVE_COLUMNS}`,
        [attempt.jobId, attempt.attempt, attempt.islandId, this.selfId],
      ),
    );
  }

  ownerOf(jobId: string): Promise<string | undefined> {
    return this.#db.use(async (session) => {
      const sql = `SELECT owner_id AS "ownerId" FROM jobs WHERE id = $1 AND completed_at_ms IS NULL`;
      return (await session.one<{ ownerId: string }>(sql, [jobId]))?.ownerId;
    });
  }
}
