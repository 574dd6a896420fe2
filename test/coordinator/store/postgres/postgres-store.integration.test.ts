import { it } from "vitest";
import { HAS_EVERY_CASE } from "../../../support/soak-rounds.ts";
import { withDatabase } from "../../../support/with-servers.ts";
import { describeStore } from "../contract/store.contract.ts";

// The short run has the contract of SQLite: both stores share the rules, and this one takes half a minute.
if (!HAS_EVERY_CASE) it.skip("the PostgreSQL store [in a full run]", () => undefined);
else
  await withDatabase("the PostgreSQL store", (database) =>
    describeStore("postgres", async (clock) => {
      await database.empty();
      return database.store(clock);
    }),
  );
