import type Database from "better-sqlite3";

export interface RegistryOperations {
  /** False, with nothing changed, when the host id is another account's. */
  saveIsland(args: {
    hostId: string;
    accountId: string;
    agentVersion: string;
    hardware: string;
    runtimes: string;
    lastSeenAtMs: number;
  }): boolean;
  /** Numbers of all Cargos ever named, as (slug, number). */
  numberCargos(args: { slugs: readonly string[] }): [slug: string, number: number][];
}

export function registryOperations(db: Database.Database): RegistryOperations {
  const saveIsland = db.prepare(
    `INSERT INTO islands (host_id, account_id, agent_version, hardware, runtimes, last_seen_at_ms)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (host_id) DO UPDATE SET agent_version = excluded.agent_version, hardware = excluded.hardware,
       runtimes = excluded.runtimes, last_seen_at_ms = excluded.last_seen_at_ms
     WHERE account_id = excluded.account_id`,
  );
  const insertSlug = db.prepare<[string]>(
    `INSERT INTO cargo_numbers (number, slug) SELECT coalesce(max(number), 0) + 1, ? FROM cargo_numbers WHERE true
     ON CONFLICT (slug) DO NOTHING`,
  );
  const allNumbers = db.prepare<[], [string, number]>("SELECT slug, number FROM cargo_numbers ORDER BY number").raw();
  return {
    saveIsland: ({ hostId, accountId, agentVersion, hardware, runtimes, lastSeenAtMs }) =>
      saveIsland.run(hostId, accountId, agentVersion, hardware, runtimes, lastSeenAtMs).changes === 1,
    numberCargos({ slugs }) {
      for (const slug of slugs) insertSlug.run(slug);
      return allNumbers.all();
    },
  };
}
