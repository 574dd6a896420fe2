import { rmSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqliteStore, type SqliteStore } from "../../../../../coordinator/store/sqlite/sqlite-store.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";
import { CAN_MOUNT, SmallDisk } from "../../../../support/small-disk.ts";
import {
  ISLAND_ID,
  MADE_AT_MS,
  makeAccount,
  makeEnding,
  makeJob,
  runJob,
  temporaryFolder,
} from "../../contract/store-builders.ts";

const UNAVAILABLE = { name: "ServiceError", code: "storage_unavailable" };

let clock: ManualClock;
let store: SqliteStore;
let reported: (string | null)[];

async function open(path: string, minFreeBytes?: number): Promise<void> {
  clock = new ManualClock();
  reported = [];
  const onReadOnly = (reason: string | null): void => void reported.push(reason);
  store = await openSqliteStore({ path, clock, onReadOnly, ...(minFreeBytes === undefined ? {} : { minFreeBytes }) });
}

/** Waits until the store has detected the full disk. */
async function untilTold(count: number): Promise<void> {
  await expect
    .poll(
      () => {
        clock.advance(2_000);
        return reported.length;
      },
      { timeout: 20_000 },
    )
    .toBe(count);
}

describe.skipIf(!CAN_MOUNT)("a store on a full disk", () => {
  let disk: SmallDisk;
  beforeEach(async () => {
    disk = new SmallDisk(8 * 2 ** 20);
    await open(`${disk.path}/atoll.db`);
  });
  afterEach(async () => {
    await store.close();
    disk[Symbol.dispose]();
  });

  it("refuses requests, keeps events that have happened, and writes them once there is space", async () => {
    const accountId = await makeAccount(store);
    const job = makeJob(accountId);
    await runJob(store, job);
    disk.fill();
    await expect(makeAccount(store)).rejects.toMatchObject(UNAVAILABLE);
    const output = "x".repeat(60_000);
    let hasEnded = false;
    const ended = store.jobs.end(makeEnding(job, { output })).then(() => (hasEnded = true));
    await expect(store.jobs.submit(makeJob(accountId))).rejects.toMatchObject(UNAVAILABLE);
    await expect(store.check()).rejects.toMatchObject(UNAVAILABLE);
    expect(store.readOnlyReason).toBe("the disk is full (SQLITE_FULL)");
    expect(await store.jobs.get(job.id)).toMatchObject({ state: "running" });
    expect(hasEnded).toBe(false);
    disk.free();
    await untilTold(2);
    await ended;
    expect(reported).toEqual(["the disk is full (SQLITE_FULL)", null]);
    expect(await store.jobs.get(job.id)).toMatchObject({ state: "completed", output });
    await makeAccount(store);
    expect(await store.ledger.verify()).toMatchObject({ sumMicro: 0, wrongBalances: [], wrongHolds: [] });
  });

  it("detects free space without any writes", async () => {
    disk.fill();
    await expect(makeAccount(store)).rejects.toMatchObject(UNAVAILABLE);
    disk.free();
    await untilTold(2);
    expect(store.readOnlyReason).toBeNull();
  });

  it("closes at once, and leaves what it could not write unchanged", async () => {
    const accountId = await makeAccount(store);
    const job = makeJob(accountId);
    await runJob(store, job);
    disk.fill();
    const lost = store.jobs.end(makeEnding(job, { output: "x".repeat(100_000) }));
    lost.catch(() => undefined);
    await store.close();
    await expect(lost).rejects.toThrow(/closed/);
    disk.free();
    await open(`${disk.path}/atoll.db`);
    expect(await store.jobs.get(job.id)).toMatchObject({ state: "running" });
  });

  it("refuses requests before its disk is full, and still writes events that happen", async () => {
    await store.close();
    await open(`${disk.path}/atoll.db`, 4 * 2 ** 20);
    await expect.poll(() => clock.pendingTimers).toBe(2);
    const accountId = await makeAccount(store);
    const job = makeJob(accountId);
    await runJob(store, job);
    writeFileSync(`${disk.path}/other`, Buffer.alloc(5 * 2 ** 20));
    await untilTold(1);
    expect(reported[0]).toMatch(/^the disk of .* has only [0-3] MiB left \(setting min_free_disk_mb\)$/);
    await expect(store.jobs.submit(makeJob(accountId))).rejects.toMatchObject({
      ...UNAVAILABLE,
      message: "Storage is unavailable: the coordinator's disk is nearly full; its operator must free space",
    });
    await store.jobs.end(makeEnding(job));
    rmSync(`${disk.path}/other`);
    await untilTold(2);
    await store.jobs.submit(makeJob(accountId));
  });
});

describe("a store whose database is locked by another process", () => {
  it("refuses requests and keeps events that have happened", async () => {
    using folder = temporaryFolder();
    await open(folder.file("atoll.db"));
    const accountId = await makeAccount(store);
    const job = makeJob(accountId);
    await store.jobs.submit(job);
    const other = new Database(folder.file("atoll.db"));
    other.exec("BEGIN IMMEDIATE");
    const moved = store.jobs.move({
      jobId: job.id,
      event: "assign",
      attempt: 1,
      islandId: ISLAND_ID,
      atMs: MADE_AT_MS,
    });
    await expect(makeAccount(store)).rejects.toMatchObject(UNAVAILABLE);
    expect(reported).toEqual(["another process is writing to the database (SQLITE_BUSY)"]);
    other.exec("COMMIT");
    other.close();
    await untilTold(2);
    await moved;
    expect(await store.jobs.get(job.id)).toMatchObject({ state: "queued" });
    await store.close();
  });
});
