import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { openSqliteStore } from "../../../../../coordinator/store/sqlite/sqlite-store.ts";
import { openReader } from "../../../../../coordinator/store/sqlite/engine/reader.ts";
import { temporaryFolder } from "../../contract/store-builders.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";

const FIRST = ["ledger.list", ["user_1", { limit: 1, offset: 0 }]] as const;

it("openReader() rejects the reads of a dead thread, and starts a new one for the next read", async () => {
  using folder = temporaryFolder();
  const path = folder.file("atoll.db");
  // The file is not a database, so the thread throws when it reads it.
  writeFileSync(path, "no database ".repeat(1_000));
  const reader = openReader(path);
  const asked = await Promise.allSettled([reader.runStep(...FIRST), reader.runStep(...FIRST)]);
  expect(asked.map(({ status }) => status)).toEqual(["rejected", "rejected"]);

  writeFileSync(path, "");
  await (await openSqliteStore({ path, clock: new ManualClock() })).close();
  expect(await reader.runStep(...FIRST)).toEqual({ lines: [], total: 0 });
  const last = reader.runStep(...FIRST);
  await reader.close();
  expect(await last).toEqual({ lines: [], total: 0 });
  await expect(reader.runStep(...FIRST)).rejects.toMatchObject({ code: "shutting_down" });
});
