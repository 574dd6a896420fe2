import { afterAll, it } from "vitest";
import { PostgresDatabase } from "../../../support/postgres-database.ts";
import { IS_FULL_SOAK } from "../../../support/soak-rounds.ts";
import { describeStore } from "../contract/store.contract.ts";

// The short run has the contract of SQLite: both stores share the rules, and this one takes half a minute.
const database = IS_FULL_SOAK ? await PostgresDatabase.open() : null;

if (!IS_FULL_SOAK) it.skip("the PostgreSQL store [in a full run]", () => undefined);
else if (database === null) {
  process.stderr.write("Tests of the PostgreSQL store are skipped: PostgreSQL is not installed\n");
  it.skip("the PostgreSQL store [PostgreSQL is not installed]", () => undefined);
} else {
  afterAll(() => database[Symbol.asyncDispose]());
  describeStore("postgres", async (clock) => {
    await database.empty();
    return database.store(clock);
  });
}
