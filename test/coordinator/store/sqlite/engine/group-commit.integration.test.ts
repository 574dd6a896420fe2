import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqliteStore, type SqliteStore } from "../../../../../coordinator/store/sqlite/sqlite-store.ts";
import { makeBatch } from "../../contract/batch-store.cases.ts";
import { grant, MADE_AT_MS, makeAccount, makeJob, runJob, temporaryFolder } from "../../contract/store-builders.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";

describe("group commit", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let store: SqliteStore;
  let accountId: string;
  beforeEach(async () => {
    folder = temporaryFolder();
    store = await openSqliteStore({ path: folder.file("atoll.db"), clock: new ManualClock() });
    accountId = await makeAccount(store);
  });
  afterEach(async () => {
    await store.close();
    folder[Symbol.dispose]();
  });

  it("commits calls of one tick together", async () => {
    const before = store.commits;
    await Promise.all(Array.from({ length: 500 }, () => grant(store, accountId, 1)));
    expect(store.commits - before).toBe(1);
  });

  it("commits calls made during a commit together", async () => {
    const before = store.commits;
    const first = grant(store, accountId, 1);
    await Promise.resolve();
    await Promise.all([first, ...Array.from({ length: 100 }, () => grant(store, accountId, 1))]);
    expect(store.commits - before).toBe(2);
  });

  it("limits a transaction to 512 operations", async () => {
    const before = store.commits;
    await Promise.all(Array.from({ length: 1_025 }, () => grant(store, accountId, 1)));
    expect(store.commits - before).toBe(3);
  });

  it("commits a batch of 100 jobs once, with one hold for all", async () => {
    await grant(store, accountId, 90_000_000);
    const [before, entries] = [store.commits, (await store.ledger.verify()).entries];
    await store.batches.submit(makeBatch(accountId, 100));
    expect(store.commits - before).toBe(1);
    expect(await store.ledger.verify()).toMatchObject({ entries: entries + 2, wrongBalances: [], wrongHolds: [] });
  });

  it("commits writes that await one another separately", async () => {
    const before = store.commits;
    for (let i = 0; i < 3; i++) await grant(store, accountId, 1);
    expect(store.commits - before).toBe(3);
  });

  it("shows an operation the effects of earlier calls of the same tick", async () => {
    const job = makeJob(accountId);
    await runInOneTurn(job);
    expect((await store.jobs.get(job.id))?.state).toBe("running");

    async function runInOneTurn(made: typeof job): Promise<void> {
      const before = store.commits;
      const move = { jobId: made.id, attempt: 1, islandId: null, atMs: MADE_AT_MS };
      await Promise.all([
        store.jobs.submit(made),
        store.jobs.move({ ...move, event: "assign" }),
        store.jobs.move({ ...move, event: "start" }),
      ]);
      expect(store.commits - before).toBe(1);
    }
  });

  it("commits the other operations of a batch if one is refused", async () => {
    const before = store.commits;
    const settled = await Promise.allSettled([
      grant(store, accountId, 1),
      grant(store, "user_none", 1),
      grant(store, accountId, 1),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect((await store.accounts.get(accountId))?.balanceMicro).toBe(10_000_002);
    expect(store.commits - before).toBe(1);
  });

  it("fails only the operation with an SQL error", async () => {
    const job = makeJob(accountId);
    const settled = await Promise.allSettled([
      store.jobs.submit(job),
      store.jobs.submit(job),
      grant(store, accountId, 1),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(settled[1]).toMatchObject({ reason: { message: expect.stringContaining("UNIQUE") as string } });
    expect((await store.accounts.get(accountId))?.balanceMicro).toBe(9_000_001);
    expect(await store.ledger.verify()).toMatchObject({ sumMicro: 0, wrongBalances: [], wrongHolds: [], entries: 6 });
  });

  it("waits for another process that has locked the database", async () => {
    const other = new Database(folder.file("atoll.db"));
    other.exec("BEGIN IMMEDIATE");
    const granted = grant(store, accountId, 1);
    await expect(Promise.race([granted, delay(300)])).resolves.toBe("waited");
    other.exec("COMMIT");
    other.close();
    await granted;
  });

  it("cannot change or remove entries of the ledger", async () => {
    const other = new Database(folder.file("atoll.db"));
    expect(() => other.exec("UPDATE entries SET micro = 5")).toThrow(/append-only/);
    expect(() => other.exec("DELETE FROM entries")).toThrow(/append-only/);
    expect(() => other.exec("UPDATE balances SET micro = -1 WHERE party LIKE 'client:%'")).toThrow(/CHECK/);
    other.close();
  });

  it("reports manipulated balances and entries in ledger.verify()", async () => {
    await runJob(store, makeJob(accountId));
    const other = new Database(folder.file("atoll.db"));
    other.exec("DROP TRIGGER entries_are_not_updated");
    other.exec("UPDATE entries SET micro = micro + 5 WHERE party LIKE 'client:%' AND kind = 'grant'");
    other.exec("UPDATE balances SET micro = micro + 3 WHERE party LIKE 'hold:%'");
    other.close();
    expect(await store.ledger.verify()).toEqual({
      sumMicro: 5,
      entries: 4,
      unbalancedTransactions: 1,
      wrongBalances: [
        { party: `client:${accountId}`, balanceMicro: 9_000_000, entriesMicro: 9_000_005 },
        { party: `hold:${accountId}`, balanceMicro: 1_000_003, entriesMicro: 1_000_000 },
      ],
      wrongHolds: [{ accountId, heldMicro: 1_000_003, jobsMicro: 1_000_000 }],
    });
  });
});

function delay(ms: number): Promise<"waited"> {
  return new Promise((resolve) => {
    setTimeout(() => resolve("waited"), ms);
  });
}
