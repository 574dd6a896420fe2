import type Database from "better-sqlite3";
import { MAX_HOSTS } from "../../island-store.ts";

export interface IslandOperations {
  /** False if the host id belongs to another account; nothing is changed then. */
  saveIsland(args: {
    hostId: string;
    accountId: string;
    agentVersion: string;
    hardware: string;
    runtimes: string;
    lastSeenAtMs: number;
  }): boolean;
  touchIslands(args: { hostIds: readonly string[]; atMs: number }): void;
  forgetUnseen(args: { seenByMs: number; limit: number }): number;
}

export function islandOperations(db: Database.Database): IslandOperations {
  const saveIsland = db.prepare(
    `INSERT INTO islands (host_id, account_id, agent_version, hardware, runtimes, last_seen_at_ms)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (host_id) DO UPDATE SET agent_version = excluded.agent_version, hardware = excluded.hardware,
       runtimes = excluded.runtimes, last_seen_at_ms = excluded.last_seen_at_ms
     WHERE account_id = excluded.account_id`,
  );
  const touch = db.prepare<{ hostId: string; atMs: number }>(
    "UPDATE islands SET last_seen_at_ms = @atMs WHERE host_id = @hostId AND last_seen_at_ms < @atMs",
  );
  const forget = db.prepare<[number, number]>(
    "DELETE FROM islands WHERE host_id IN (SELECT host_id FROM islands WHERE last_seen_at_ms <= ? LIMIT ?)",
  );
  const dropOldest = db.prepare<[string, string]>(
    `DELETE FROM islands WHERE host_id IN (
       SELECT host_id FROM islands WHERE account_id = ? AND host_id <> ?
       ORDER BY last_seen_at_ms DESC LIMIT -1 OFFSET ${MAX_HOSTS - 1})`,
  );
  return {
    saveIsland({ hostId, accountId, agentVersion, hardware, runtimes, lastSeenAtMs }) {
      const isSaved = saveIsland.run(hostId, accountId, agentVersion, hardware, runtimes, lastSeenAtMs).changes === 1;
      if (isSaved) dropOldest.run(accountId, hostId);
      return isSaved;
    },
    touchIslands({ hostIds, atMs }) {
      for (const hostId of hostIds) touch.run({ hostId, atMs });
    },
    forgetUnseen: ({ seenByMs, limit }) => forget.run(seenByMs, limit).changes,
  };
}
