import { afterAll, it } from "vitest";
import { NatsServer } from "./nats-server.ts";
import { PostgresDatabase } from "./postgres-database.ts";
import { PostgresServer } from "./postgres-server.ts";

type Tests<T> = (opened: T) => void | Promise<void>;

/** Declares tests with a migrated database of their own. Where PostgreSQL is not installed they are skipped, which is said once. */
export const withDatabase = (title: string, tests: Tests<PostgresDatabase>): Promise<void> =>
  declare(title, "PostgreSQL", () => PostgresDatabase.open(), tests);

/** As {@link withDatabase}, with a server without a database. */
export const withPostgres = (title: string, tests: Tests<PostgresServer>): Promise<void> =>
  declare(title, "PostgreSQL", () => PostgresServer.start(), tests);

/** As {@link withDatabase}, with a NATS server. */
export const withNats = (title: string, tests: Tests<NatsServer>): Promise<void> =>
  declare(title, "nats-server", () => NatsServer.start(), tests);

const told = new Set<string>();

async function declare<T extends AsyncDisposable>(
  title: string,
  name: string,
  open: () => Promise<T | null>,
  tests: Tests<T>,
): Promise<void> {
  const opened = await open();
  if (opened === null) {
    if (!told.has(name)) process.stderr.write(`Tests are skipped: ${name} is not installed\n`);
    told.add(name);
    it.skip(`${title} [${name} is not installed]`, () => undefined);
    return;
  }
  // Runs after those that the tests declare.
  afterAll(() => opened[Symbol.asyncDispose]());
  await tests(opened);
}
