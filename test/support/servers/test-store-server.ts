import { randomBytes } from "node:crypto";

/** Store of the coordinator's tests. It is PostgreSQL if this is `postgres`, and SQLite if it is not set. */
const CHOICE = "ATOLL_TEST_STORE";
/** Address of the server that all workers of a run share, without a database name. */
export const SERVER = "ATOLL_TEST_POSTGRES";
/** Variable with the cluster key, for coordinator processes of tests. */
export const KEY = "ATOLL_CLUSTER_KEY";
/** Name of the migrated, empty template database. */
export const TEMPLATE = "atoll_template";

export const IS_POSTGRES = process.env[CHOICE] === "postgres";

/** Vitest's global setup. It starts the server if tests run on PostgreSQL. */
export default async function startTestStore(): Promise<(() => Promise<void>) | undefined> {
  // Every lane calls it, and the first one starts the server.
  if (!IS_POSTGRES || process.env[SERVER] !== undefined) return undefined;
  const [{ PostgresServer }, { migrate }, { MIGRATIONS }] = await Promise.all([
    import("./postgres-server.ts"),
    import("../../../coordinator/store/postgres/engine/migrate.ts"),
    import("../../../coordinator/store/postgres/migrations.ts"),
  ]);
  const server = await PostgresServer.start();
  await migrate(await server.createDatabase(TEMPLATE), MIGRATIONS, 0);
  process.env[SERVER] = server.addressOf("");
  process.env[KEY] = randomBytes(32).toString("hex");
  return () => server[Symbol.asyncDispose]();
}
