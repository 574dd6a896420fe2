import type { Hardware } from "../../../../shared/hardware.ts";
import type { RuntimeReport } from "../../../../shared/protocol/from-island.ts";
import { MAX_HOSTS, type IslandRecord, type IslandStore } from "../../island-store.ts";
import type { Database } from "../engine/database.ts";
import { textFromColumn, textToColumn } from "../engine/text.ts";

type IslandRow = Omit<IslandRecord, "hardware" | "runtimes"> & { readonly hardware: string; readonly runtimes: string };

export class PostgresIslandStore implements IslandStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  save({ hostId, accountId, agentVersion, hardware, runtimes, lastSeenAtMs }: IslandRecord): Promise<boolean> {
    return this.#db.transact(async (session) => {
      // The hosts of an account are counted one after the other.
      await session.run("SELECT 1 FROM accounts WHERE id = $1 FOR UPDATE", [accountId]);
      const saved = await session.run(
        `INSERT INTO islands (host_id, account_id, agent_version, hardware, runtimes, last_seen_at_ms)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (host_id) DO UPDATE SET agent_version = excluded.agent_version, hardware = excluded.hardware,
           runtimes = excluded.runtimes, last_seen_at_ms = excluded.last_seen_at_ms
         WHERE islands.account_id = excluded.account_id`,
        [
          hostId,
          accountId,
          textToColumn(agentVersion),
          JSON.stringify(hardware),
          JSON.stringify(runtimes),
          lastSeenAtMs,
        ],
      );
      if (saved === 0) return false;
      await session.run(
        `DELETE FROM islands WHERE host_id = ANY (ARRAY(
           SELECT host_id FROM islands WHERE account_id = $1 AND host_id <> $2
           ORDER BY last_seen_at_ms DESC OFFSET ${MAX_HOSTS - 1}))`,
        [accountId, hostId],
      );
      return true;
    });
  }

  get(hostId: string): Promise<IslandRecord | undefined> {
    return this.#db.use(async (session) => {
      const row = await session.one<IslandRow>(
        `SELECT host_id AS "hostId", account_id AS "accountId", agent_version AS "agentVersion", hardware, runtimes,
           last_seen_at_ms AS "lastSeenAtMs" FROM islands WHERE host_id = $1`,
        [hostId],
      );
      if (row === undefined) return undefined;
      return {
        ...row,
        agentVersion: textFromColumn(row.agentVersion),
        hardware: JSON.parse(row.hardware) as Hardware,
        runtimes: JSON.parse(row.runtimes) as RuntimeReport[],
      };
    });
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
        "DELETE FROM islands WHERE host_id = ANY (ARRAY(SELECT host_id FROM islands WHERE last_seen_at_ms <= $1 LIMIT $2))",
        [seenByMs, limit],
      ),
    );
  }

  hasAny(): Promise<boolean> {
    return this.#db.use(async (session) => (await session.one("SELECT 1 FROM islands LIMIT 1")) !== undefined);
  }
}
