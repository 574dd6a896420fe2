import { afterAll } from "vitest";
import { NatsServer } from "./nats-server.ts";
import { PostgresDatabase } from "./postgres-database.ts";
import { PostgresServer } from "./postgres-server.ts";

type Tests<T> = (opened: T) => void | Promise<void>;

/** Declares tests with a new migrated database. */
export const withDatabase = (tests: Tests<PostgresDatabase>): Promise<void> => declare(PostgresDatabase.open(), tests);

/** Declares tests with a PostgreSQL server that has no database yet. */
export const withPostgres = (tests: Tests<PostgresServer>): Promise<void> => declare(PostgresServer.start(), tests);

/** Declares tests with a NATS server. */
export const withNats = (tests: Tests<NatsServer>): Promise<void> => declare(NatsServer.start(), tests);

async function declare<T extends AsyncDisposable>(opening: Promise<T>, tests: Tests<T>): Promise<void> {
  const opened = await opening;
  // Runs after the hooks that the tests declare.
  afterAll(() => opened[Symbol.asyncDispose]());
  await tests(opened);
}
