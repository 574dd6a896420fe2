import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll, it } from "vitest";
import { migrate } from "../../../../coordinator/store/postgres/engine/migrate.ts";
import { MIGRATIONS } from "../../../../coordinator/store/postgres/migrations/all.ts";
import { PostgresStore } from "../../../../coordinator/store/postgres/postgres-store.ts";
import { SecretBox } from "../../../../coordinator/store/secret-box.ts";
import { PostgresServer } from "../../../support/postgres-server.ts";
import { describeStore } from "../contract/store.contract.ts";

const server = await PostgresServer.start();

if (server === null) {
  process.stderr.write("Tests of the PostgreSQL store are skipped: PostgreSQL is not installed\n");
  it.skip("the PostgreSQL store [PostgreSQL is not installed]", () => undefined);
} else {
  const address = await server.createDatabase("contract");
  await migrate(address, MIGRATIONS, 1);
  const admin = new pg.Client(address);
  await admin.connect();
  const { rows } = await admin.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migrations'",
  );
  const empty = `TRUNCATE ${rows.map(({ name }) => name).join(", ")};
    INSERT INTO balances VALUES ('network', 0); INSERT INTO checks VALUES (1, 0); INSERT INTO catalog_revision VALUES (1, 0);
    INSERT INTO credentials_revision VALUES (0)`;
  afterAll(async () => {
    await admin.end();
    await server[Symbol.asyncDispose]();
  });
  describeStore("postgres", async (clock) => {
    await admin.query(empty);
    return new PostgresStore({ address, clock, secrets: new SecretBox(randomBytes(32)) });
  });
}
