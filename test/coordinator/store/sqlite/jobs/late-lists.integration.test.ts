import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { holdPostings } from "../../../../../coordinator/credits/postings.ts";
import { readLedger } from "../../../../../coordinator/store/ledger/ledger.ts";
import { migrate } from "../../../../../coordinator/store/sqlite/engine/migrate.ts";
import { prepareOnce, SqliteTx } from "../../../../../coordinator/store/sqlite/engine/sqlite-tx.ts";
import { openLedger, type Ledger } from "../../../../../coordinator/store/sqlite/ledger/ledger.ts";
import { MIGRATIONS } from "../../../../../coordinator/store/sqlite/migrations.ts";
import { makeAccount, makeEnding, makeJob, runJob, temporaryFolder } from "../../contract/store-builders.ts";
import { openSqliteStore, type SqliteStore } from "../../../../../coordinator/store/sqlite/sqlite-store.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";

const ALL = { limit: 100, offset: 0 };

describe("recently ended jobs", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let store: SqliteStore;
  beforeEach(async () => {
    folder = temporaryFolder();
    store = await openSqliteStore({ path: folder.file("atoll.db"), clock: new ManualClock() });
  });
  afterEach(async () => {
    await store.close();
    folder[Symbol.dispose]();
  });

  const unlisted = (): number => {
    const db = new Database(folder.file("atoll.db"), { readonly: true });
    const count = db.prepare<[], number>("SELECT count(*) FROM jobs WHERE is_unlisted = 1").pluck().get() ?? Number.NaN;
    db.close();
    return count;
  };

  it("are in every list at once, and at most 32 are not in the indexes", async () => {
    const accountId = await makeAccount(store, { grantMicro: 100_000_000 });
    const ids: string[] = [];
    let most = 0;
    for (let index = 0; index < 40; index += 1) {
      const job = makeJob(accountId, { slug: index % 2 === 0 ? "even" : "odd" });
      await runJob(store, job);
      await store.jobs.end(makeEnding(job, { atMs: 1_000 + index }));
      ids.unshift(job.id);
      most = Math.max(most, unlisted());
      const even = Math.floor(index / 2) + 1;
      expect((await store.jobs.list(accountId, ALL, {})).jobs.map(({ id }) => id)).toEqual(ids);
      expect(await store.jobs.list(accountId, ALL, { states: ["completed"], slug: "even" })).toMatchObject({
        total: even,
      });
      expect((await store.jobs.completionsSince(1_000)).get("even")).toBe(even);
      expect(await store.content.jobsOf({ kind: "account", id: accountId }, "", 100)).toEqual(ids.toReversed());
    }
    const inputs = await store.content.expired("input", { sinceMs: 0, endedByMs: 2_000 }, 100);
    expect(inputs.map(({ id }) => id)).toEqual(ids.toReversed());
    expect(most).toBeGreaterThan(20);
    expect(most).toBeLessThanOrEqual(32);
  });

  it("are indexed after a restart with the first job that ends", async () => {
    const accountId = await makeAccount(store);
    const jobs = [makeJob(accountId), makeJob(accountId), makeJob(accountId)];
    for (const job of jobs.slice(0, 2)) {
      await runJob(store, job);
      await store.jobs.end(makeEnding(job));
    }
    expect(unlisted()).toBe(1);
    await store.close();
    store = await openSqliteStore({ path: folder.file("atoll.db"), clock: new ManualClock() });
    const [, , last] = jobs;
    if (last === undefined) throw new Error("There are three jobs");
    await runJob(store, last);
    await store.jobs.end(makeEnding(last));
    expect(unlisted()).toBe(0);
    expect(await store.jobs.list(accountId, ALL, { states: ["completed"] })).toMatchObject({ total: 3 });
  });
});

describe("the lines of the ledger", () => {
  /** Creates a database with accounts a and b. */
  function emptyDatabase(): Database.Database {
    const db = new Database(":memory:");
    migrate(db, MIGRATIONS, 1);
    for (const id of ["a", "b"]) {
      db.exec(`INSERT INTO accounts (id, email, email_key, password_hash, created_at_ms) VALUES ('${id}', '${id}', '${id}', '', 1);
        INSERT INTO balances (party, micro) VALUES ('client:${id}', 0), ('hold:${id}', 0)`);
    }
    return db;
  }

  /** Yields movements of five kinds, two to four entries each. */
  function* movements(count: number): Iterable<Parameters<Ledger["post"]>> {
    for (let index = 0; index < count; index += 1) {
      const accountId = index % 3 === 0 ? "b" : "a";
      const [client, hold] = [`client:${accountId}`, `hold:${accountId}`] as const;
      const grant = [
        { party: "network", micro: -100, kind: "grant" },
        { party: client, micro: 100, kind: "grant" },
      ] as const;
      const settled = [
        { party: hold, micro: -6, kind: "charge" },
        { party: client, micro: 5, kind: "earning" },
        { party: "network", micro: 1, kind: "fee" },
      ] as const;
      const release = [
        { party: hold, micro: -4, kind: "release" },
        { party: client, micro: 4, kind: "release" },
      ] as const;
      for (const postings of [grant, holdPostings(accountId, [10]), [...settled, ...release]])
        yield [postings, `job_${index}`, 1_000 + index];
    }
  }

  async function expectAllLines(db: Database.Database, accountId: string, movementsMade: number): Promise<void> {
    const tx = new SqliteTx(prepareOnce(db), null);
    const { lines, total } = await readLedger(tx, accountId, { limit: 10_000, offset: 0 });
    expect(lines.length).toBe(total);
    const jobs = Array.from({ length: movementsMade }, (_, index) => index)
      .filter((index) => (index % 3 === 0 ? "b" : "a") === accountId)
      .toReversed();
    expect(lines.map(({ kind }) => kind)).toEqual(
      jobs.flatMap(() => ["release", "earning", "charge", "hold", "refund"]),
    );
    expect(lines.map(({ jobId }) => jobId)).toEqual(
      jobs.flatMap((job) => Array.from({ length: 5 }, () => `job_${job}`)),
    );
    expect(lines.map(({ atMs }) => atMs)).toEqual(jobs.flatMap((job) => Array.from({ length: 5 }, () => 1_000 + job)));
    let balance = 0;
    for (const line of lines.toReversed()) {
      balance += line.micro;
      expect(line.balanceMicro).toBe(balance);
    }
    for (const offset of [0, 1, 7, 60]) {
      expect((await readLedger(tx, accountId, { limit: 9, offset })).lines).toEqual(lines.slice(offset, offset + 9));
    }
  }

  function post(db: Database.Database, all: Iterable<Parameters<Ledger["post"]>>): void {
    const ledger = openLedger(db);
    for (const movement of all) {
      ledger.begin();
      ledger.post(...movement);
      ledger.flush();
    }
  }

  it("are complete with any number of entries that are not in the index of lines yet", async () => {
    const db = emptyDatabase();
    post(db, movements(70));
    // Each movement has 9 entries.
    expect(db.prepare("SELECT count(*) FROM entries").pluck().get()).toBe(630);
    expect(db.prepare("SELECT max(entry) FROM ledger_lines").pluck().get()).toBeLessThanOrEqual(512);
    for (const id of ["a", "b"]) await expectAllLines(db, id, 70);
    db.close();
  });
});
