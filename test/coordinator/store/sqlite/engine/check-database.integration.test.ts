import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { afterEach, beforeEach, expect, it } from "vitest";
import { checkDatabase } from "../../../../../coordinator/store/sqlite/engine/maintenance.ts";
import { openSqliteStore } from "../../../../../coordinator/store/sqlite/sqlite-store.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";
import { runProgram } from "../../../../support/program.ts";
import { makeAccount, temporaryFolder } from "../../contract/store-builders.ts";

const PAGE_BYTES = 1_024;

let folder: ReturnType<typeof temporaryFolder>;
let file: string;

beforeEach(async () => {
  folder = temporaryFolder();
  file = folder.file("atoll.db");
  const store = await openSqliteStore({ path: file, clock: new ManualClock() });
  await makeAccount(store);
  await store.close();
});
afterEach(() => folder[Symbol.dispose]());

it("checkDatabase() finds nothing in an intact database", () => {
  expect(checkDatabase(file)).toEqual([]);
});

it("checkDatabase() reports the damage, and the command exits with 1 and the remedy", async () => {
  const descriptor = openSync(file, "r+");
  for (let page = 2; page < 30; page += 1) writeSync(descriptor, Buffer.alloc(64, 0xff), 0, 64, page * PAGE_BYTES);
  closeSync(descriptor);
  expect(checkDatabase(file).length).toBeGreaterThan(0);
  const { code, stdout } = await runProgram("coordinator", "check", "--data", folder.path);
  expect([code, stdout]).toEqual([1, expect.stringMatching(/restore the most recent backup/) as string]);
});

it("checkDatabase() reports a file that is not a database or is missing", () => {
  writeFileSync(file, "a letter to a friend ".repeat(1_000));
  expect(checkDatabase(file)).toEqual(["file is not a database (SQLITE_NOTADB)"]);
  expect(checkDatabase(folder.file("other.db"))).toEqual([expect.stringMatching(/other.db does not exist$/)]);
});
