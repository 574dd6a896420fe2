import { afterAll, it } from "vitest";
import { PostgresDatabase } from "../../../support/postgres-database.ts";
import { describeStore } from "../contract/store.contract.ts";

const database = await PostgresDatabase.open();

if (database === null) {
  process.stderr.write("Tests of the PostgreSQL store are skipped: PostgreSQL is not installed\n");
  it.skip("the PostgreSQL store [PostgreSQL is not installed]", () => undefined);
} else {
  afterAll(() => database[Symbol.asyncDispose]());
  describeStore("postgres", async (clock) => {
    await database.empty();
    return database.store(clock);
  });
}
