import type Database from "better-sqlite3";
import { MAX_HOSTS, type SaveOutcome } from "../../island-store.ts";

interface SaveArgs {
  readonly hostId: string;
  readonly accountId: string;
  readonly agentVersion: string;
  readonly hostName: string | null;
  readonly hardware: string;
  readonly runtimes: string;
  readonly lastSeenAtMs: number;
  readonly tokenCreatedAtMs: number;
}

export interface IslandOperations {
  saveIsland(args: SaveArgs): SaveOutcome;
  renameIsland(args: { accountId: string; hostId: string; name: string | null }): boolean;
  removeIsland(args: { accountId: string; hostId: string; atMs: number }): boolean;
  touchIslands(args: { hostIds: readonly string[]; atMs: number }): void;
  forgetUnseen(args: { seenByMs: number; limit: number }): number;
}

export function islandOperations(db: Database.Database): IslandOperations {
  // A row that was removed keeps nothing but that, so that the Island is as new.
  const saveIsland = db.prepare<SaveArgs>(
    `INSERT INTO islands (host_id, account_id, agent_version, host_name, hardware, runtimes, last_seen_at_ms, first_seen_at_ms)
     VALUES (@hostId, @accountId, @agentVersion, @hostName, @hardware, @runtimes, @lastSeenAtMs, @lastSeenAtMs)
     ON CONFLICT (host_id) DO UPDATE SET account_id = excluded.account_id, agent_version = excluded.agent_version,
       host_name = excluded.host_name, hardware = excluded.hardware, runtimes = excluded.runtimes,
       last_seen_at_ms = excluded.last_seen_at_ms, removed_at_ms = NULL,
       first_seen_at_ms = CASE WHEN removed_at_ms IS NULL THEN first_seen_at_ms ELSE excluded.first_seen_at_ms END
     WHERE CASE WHEN account_id = excluded.account_id
       THEN removed_at_ms IS NULL OR removed_at_ms < @tokenCreatedAtMs ELSE removed_at_ms IS NOT NULL END`,
  );
  const ownerOf = db.prepare<[string], string>("SELECT account_id FROM islands WHERE host_id = ?").pluck();
  const rename = db.prepare<{ accountId: string; hostId: string; name: string | null }>(
    "UPDATE islands SET name = @name WHERE host_id = @hostId AND account_id = @accountId AND removed_at_ms IS NULL",
  );
  const remove = db.prepare<{ accountId: string; hostId: string; atMs: number }>(
    `UPDATE islands SET removed_at_ms = @atMs, name = NULL, host_name = NULL, agent_version = '', hardware = '{}', runtimes = '[]'
     WHERE host_id = @hostId AND account_id = @accountId AND removed_at_ms IS NULL`,
  );
  const touch = db.prepare<{ hostId: string; atMs: number }>(
    "UPDATE islands SET last_seen_at_ms = @atMs WHERE host_id = @hostId AND last_seen_at_ms < @atMs",
  );
  // What was removed stays so.
  const forget = db.prepare<[number, number]>(
    `DELETE FROM islands WHERE host_id IN (
       SELECT host_id FROM islands WHERE last_seen_at_ms <= ? AND removed_at_ms IS NULL LIMIT ?)`,
  );
  const dropOldest = db.prepare<[string, string]>(
    `DELETE FROM islands WHERE host_id IN (
       SELECT host_id FROM islands WHERE account_id = ? AND host_id <> ?
       ORDER BY last_seen_at_ms DESC LIMIT -1 OFFSET ${MAX_HOSTS - 1})`,
  );
  return {
    saveIsland(args) {
      if (saveIsland.run(args).changes === 0) {
        return ownerOf.get(args.hostId) === args.accountId ? "removed" : "of_another";
      }
      dropOldest.run(args.accountId, args.hostId);
      return "saved";
    },
    renameIsland: (args) => rename.run(args).changes === 1,
    removeIsland: (args) => remove.run(args).changes === 1,
    touchIslands({ hostIds, atMs }) {
      for (const hostId of hostIds) touch.run({ hostId, atMs });
    },
    forgetUnseen: ({ seenByMs, limit }) => forget.run(seenByMs, limit).changes,
  };
}
