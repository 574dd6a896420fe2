import { readFileSync } from "node:fs";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { vacuumDatabase } from "../../../../../coordinator/store/sqlite/engine/maintenance.ts";
import { openSqliteStore } from "../../../../../coordinator/store/sqlite/sqlite-store.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";
import { makeAccount, temporaryFolder } from "../../contract/store-builders.ts";

let folder: ReturnType<typeof temporaryFolder>;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = folder.file("atoll.db");
});
afterEach(() => folder[Symbol.dispose]());

const openStore = () => openSqliteStore({ path: file, clock: new ManualClock() });

/** Creates a database like older versions, which keep unused space and leave deleted content readable in it. */
function makeOldDatabase(): void {
  const db = new Database(file);
  db.pragma("auto_vacuum = NONE");
  db.pragma("journal_mode = WAL");
  db.exec("CREATE TABLE old (text TEXT)");
  const insert = db.prepare("INSERT INTO old VALUES (?)");
  db.transaction(() => {
    for (let row = 0; row < 500; row += 1) insert.run(`MARK-${row}`.padEnd(10_000, "x"));
  })();
  db.exec("DELETE FROM old");
  db.close();
}

describe("vacuumDatabase()", () => {
  it("makes an old database reclaim space, and removes deleted content", async () => {
    makeOldDatabase();
    const old = await openStore();
    const accountId = await makeAccount(old);
    expect([old.content.canReclaim, await old.content.reclaim()]).toEqual([false, false]);
    await old.close();
    expect(readFileSync(file).includes("MARK-")).toBe(true);

    const { beforeBytes, afterBytes } = vacuumDatabase(file);
    expect(beforeBytes).toBeGreaterThan(5_000_000);
    expect(afterBytes).toBeLessThan(1_000_000);
    expect(readFileSync(file).includes("MARK-")).toBe(false);
    const store = await openStore();
    expect(store.content.canReclaim).toBe(true);
    expect(await store.accounts.get(accountId)).toBeDefined();
    await store.close();
  });

  it("is not needed for a new database", async () => {
    const store = await openStore();
    expect(store.content.canReclaim).toBe(true);
    await store.close();
  });
});
