import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll } from "vitest";
import { openSqliteStore } from "../../../../coordinator/store/sqlite/sqlite-store.ts";
import { writeEmptyDatabase } from "../../../support/store/empty-database.ts";
import { makeFastDirectory } from "../../../support/fast-directory.ts";
import { describeStore } from "../contract/store.contract.ts";

const folder = await makeFastDirectory("atoll-store-");
afterAll(() => rm(folder, { recursive: true }));
let opened = 0;
describeStore("sqlite", async (clock) => {
  const path = join(folder, `${++opened}.db`);
  await writeEmptyDatabase(path);
  return openSqliteStore({ path, clock });
});
