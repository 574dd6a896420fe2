import type pg from "pg";

/** Begins the names of all connections of coordinators and their commands. */
const COORDINATORS = "atoll%";

/** How many coordinators and connections of theirs or of their commands use the database, but for the one that asks. */
export async function countUsers(client: Pick<pg.ClientBase, "query">): Promise<number> {
  const { rows } = await client.query<{ users: string }>(
    `SELECT ((SELECT count(*) FROM coordinators WHERE lease_until_ms > extract(epoch FROM clock_timestamp()) * 1000)
       + (SELECT count(*) FROM pg_stat_activity
          WHERE datname = current_database() AND application_name LIKE $1 AND pid <> pg_backend_pid()))::text AS users`,
    [COORDINATORS],
  );
  return Number(rows[0]?.users ?? 0);
}
