import { withDatabase } from "../../../support/servers/with-servers.ts";
import { describeStore } from "../contract/store.contract.ts";

await withDatabase((database) =>
  describeStore("postgres", async (clock) => {
    await database.empty();
    return database.store(clock);
  }),
);
