import type { Hardware } from "../../../../shared/hardware.ts";
import type { RuntimeReport } from "../../../../shared/protocol/from-island.ts";
import { MAX_HOSTS, type IslandRecord, type IslandStore, type SaveOutcome } from "../../island-store.ts";
import type { Database } from "../engine/database.ts";
import { textFromColumn, textToColumn } from "../engine/text.ts";

type IslandRow = Omit<IslandRecord, "hardware" | "runtimes"> & { readonly hardware: string; readonly runtimes: string };

export class PostgresIslandStore implements IslandStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  save(...[island, tokenCreatedAtMs]: Parameters<IslandStore["save"]>): Promise<SaveOutcome> {
    const { hostId, accountId, agentVersion, hostName, hardware, runtimes, lastSeenAtMs } = island;
    return this.#db.transact(async (session) => {
      // The hosts of an account are counted one after the other.
      await session.run("SELECT 1 FROM accounts WHERE id = $1 FOR UPDATE", [accountId]);
      const saved = await session.run(SAVE, [
        hostId,
        accountId,
        textToColumn(agentVersion),
        hostName === null ? null : textToColumn(hostName),
        JSON.stringify(hardware),
        JSON.stringify(runtimes),
        lastSeenAtMs,
        tokenCreatedAtMs,
      ]);
      if (saved === 0) {
        const owner = await session.one<{ id: string }>("SELECT account_id AS id FROM islands WHERE host_id = $1", [
          hostId,
        ]);
        return owner?.id === accountId ? "removed" : "of_another";
      }
      await session.run(
        `DELETE FROM islands WHERE host_id = ANY (ARRAY(
           SELECT host_id FROM islands WHERE account_id = $1 AND host_id <> $2
           ORDER BY last_seen_at_ms DESC OFFSET ${MAX_HOSTS - 1}))`,
        [accountId, hostId],
      );
      return "saved";
    });
  }

  async get(hostId: string): Promise<IslandRecord | undefined> {
    return (await this.getAll([hostId]))[0];
  }

  async getAll(hostIds: readonly string[]): Promise<IslandRecord[]> {
    const sql = `${ISLAND} WHERE host_id = ANY ($1) AND removed_at_ms IS NULL`;
    return (await this.#db.use((session) => session.all<IslandRow>(sql, [hostIds]))).map(islandOf);
  }

  ofAccount(accountId: string): ReturnType<IslandStore["ofAccount"]> {
    return this.#db.use((session) =>
      session.all(
        `SELECT host_id AS "hostId", last_seen_at_ms AS "lastSeenAtMs" FROM islands
         WHERE account_id = $1 AND removed_at_ms IS NULL`,
        [accountId],
      ),
    );
  }

  rename(accountId: string, hostId: string, name: string | null): Promise<boolean> {
    return this.#isRun(
      "UPDATE islands SET name = $3 WHERE host_id = $2 AND account_id = $1 AND removed_at_ms IS NULL",
      [accountId, hostId, name === null ? null : textToColumn(name)],
    );
  }

  remove(accountId: string, hostId: string, atMs: number): Promise<boolean> {
    return this.#isRun(
      `UPDATE islands SET removed_at_ms = $3, name = NULL, host_name = NULL, agent_version = $4, hardware = '{}', runtimes = '[]'
       WHERE host_id = $2 AND account_id = $1 AND removed_at_ms IS NULL`,
      [accountId, hostId, atMs, textToColumn("")],
    );
  }

  async removedOf(hostIds: readonly string[]): Promise<string[]> {
    const sql = `SELECT host_id AS "hostId" FROM islands WHERE host_id = ANY ($1) AND removed_at_ms IS NOT NULL`;
    const rows = await this.#db.use((session) => session.all<{ hostId: string }>(sql, [hostIds]));
    return rows.map(({ hostId }) => hostId);
  }

  touch(hostIds: readonly string[], atMs: number): Promise<void> {
    return this.#db.use(async (session) => {
      // Sorted, so that two coordinators never wait for each other in a circle.
      await session.run(
        `UPDATE islands SET last_seen_at_ms = $1 WHERE host_id IN (
           SELECT host_id FROM islands WHERE host_id = ANY ($2) AND last_seen_at_ms < $1 ORDER BY host_id FOR UPDATE)`,
        [atMs, hostIds],
      );
    });
  }

  forgetUnseen(seenByMs: number, limit: number): Promise<number> {
    return this.#db.use((session) =>
      session.run(
        // What was removed stays so.
        `DELETE FROM islands WHERE host_id = ANY (ARRAY(
           SELECT host_id FROM islands WHERE last_seen_at_ms <= $1 AND removed_at_ms IS NULL LIMIT $2))`,
        [seenByMs, limit],
      ),
    );
  }

  hasAny(): Promise<boolean> {
    return this.#db.use(async (session) => (await session.one("SELECT 1 FROM islands LIMIT 1")) !== undefined);
  }

  async #isRun(sql: string, values: readonly unknown[]): Promise<boolean> {
    return (await this.#db.use((session) => session.run(sql, values))) === 1;
  }
}

const ISLAND = `SELECT host_id AS "hostId", account_id AS "accountId", name, host_name AS "hostName",
  agent_version AS "agentVersion", hardware, runtimes, last_seen_at_ms AS "lastSeenAtMs",
  coalesce(first_seen_at_ms, last_seen_at_ms) AS "firstSeenAtMs" FROM islands`;

/** A row that was removed keeps nothing but that, so that the Island is as new. */
const SAVE = `INSERT INTO islands (host_id, account_id, agent_version, host_name, hardware, runtimes, last_seen_at_ms, first_seen_at_ms)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
  ON CONFLICT (host_id) DO UPDATE SET account_id = excluded.account_id, agent_version = excluded.agent_version,
    host_name = excluded.host_name, hardware = excluded.hardware, runtimes = excluded.runtimes,
    last_seen_at_ms = excluded.last_seen_at_ms, removed_at_ms = NULL,
    first_seen_at_ms = CASE WHEN islands.removed_at_ms IS NULL THEN islands.first_seen_at_ms ELSE excluded.first_seen_at_ms END
  WHERE CASE WHEN islands.account_id = excluded.account_id
    THEN islands.removed_at_ms IS NULL OR islands.removed_at_ms < $8::bigint ELSE islands.removed_at_ms IS NOT NULL END`;

function islandOf({ hardware, runtimes, ...row }: IslandRow): IslandRecord {
  return {
    ...row,
    name: row.name === null ? null : textFromColumn(row.name),
    hostName: row.hostName === null ? null : textFromColumn(row.hostName),
    agentVersion: textFromColumn(row.agentVersion),
    hardware: JSON.parse(hardware) as Hardware,
    runtimes: JSON.parse(runtimes) as RuntimeReport[],
  };
}
