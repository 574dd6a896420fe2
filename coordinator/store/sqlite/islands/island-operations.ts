import type Database from "better-sqlite3";

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
}

export function islandOperations(db: Database.Database): IslandOperations {
  const saveIsland = db.prepare(
    `INSERT INTO islands (host_id, account_id, agent_version, hardware, runtimes, last_seen_at_ms)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (host_id) DO UPDATE SET agent_version = excluded.agent_version, hardware = excluded.hardware,
       runtimes = excluded.runtimes, last_seen_at_ms = excluded.last_seen_at_ms
     WHERE account_id = excluded.account_id`,
  );
  return {
    saveIsland: ({ hostId, accountId, agentVersion, hardware, runtimes, lastSeenAtMs }) =>
      saveIsland.run(hostId, accountId, agentVersion, hardware, runtimes, lastSeenAtMs).changes === 1,
  };
}
