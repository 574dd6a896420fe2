import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NEW_STANDING } from "../../../../../coordinator/credits/standing.ts";
import { openSqliteStore, type SqliteStore } from "../../../../../coordinator/store/sqlite/sqlite-store.ts";
import { makeAccount, makeEnding, makeJob, runJob, temporaryFolder } from "../../contract/store-builders.ts";
import { firstIdAt } from "../../../../../shared/ids.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";

const RIGHT = { sumMicro: 0, unbalancedTransactions: 0, wrongBalances: [], wrongHolds: [] };
const PROGRAM = fileURLToPath(new URL("../../programs/submit-jobs.ts", import.meta.url));

/** Starts the program. `ids` collects the acknowledged jobs. */
function startWriter(path: string, accountId: string, count: number): { child: ChildProcess; ids: string[] } {
  const child = spawn(process.execPath, [PROGRAM, path, accountId, String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ids: string[] = [];
  let rest = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split("\n");
    rest = lines.pop() ?? "";
    ids.push(...lines);
  });
  return { child, ids };
}

describe("SqliteStore on disk", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let store: SqliteStore | undefined;
  const open = async (): Promise<SqliteStore> => {
    store = await openSqliteStore({ path: folder.file("data/atoll.db"), clock: new ManualClock() });
    return store;
  };
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(async () => {
    await store?.close();
    folder[Symbol.dispose]();
  });

  it("keeps everything across close and reopen", async () => {
    const first = await open();
    const accountId = await makeAccount(first);
    const [ended, waiting] = [makeJob(accountId), makeJob(accountId)];
    await runJob(first, ended);
    await first.jobs.end(makeEnding(ended, { output: "atoll" }));
    await first.jobs.submit(waiting);
    await first.close();

    const second = await open();
    expect(await second.jobs.get(ended.id)).toMatchObject({ state: "completed", output: "atoll" });
    expect((await second.jobs.unfinished()).map(({ id }) => id)).toEqual([waiting.id]);
    expect(await second.ledger.verify()).toMatchObject(RIGHT);
  });

  it("leaves one file after close, readable by its owner only", async () => {
    const opened = await open();
    for (const name of ["atoll.db", "atoll.db-wal", "atoll.db-shm"]) {
      expect(statSync(folder.file(`data/${name}`)).mode & 0o777).toBe(0o600);
    }
    await opened.close();
    expect(() => statSync(folder.file("data/atoll.db-wal"))).toThrow(/ENOENT/);
  });

  it("keeps every job that was acknowledged before a SIGKILL", async () => {
    const first = await open();
    const accountId = await makeAccount(first);
    await first.close();
    const { child, ids } = startWriter(folder.file("data/atoll.db"), accountId, Infinity);
    while (ids.length < 300) await once(child.stdout as NonNullable<typeof child.stdout>, "data");
    child.kill("SIGKILL");
    await once(child, "close");

    const second = await open();
    const stored = new Set((await second.jobs.unfinished()).map(({ id }) => id));
    expect(ids.filter((id) => !stored.has(id))).toEqual([]);
    expect(await second.ledger.verify()).toMatchObject(RIGHT);
  });

  it("accepts writes of another process while it writes", async () => {
    const opened = await open();
    const accountId = await makeAccount(opened);
    const { child, ids } = startWriter(folder.file("data/atoll.db"), accountId, 200);
    const exited = once(child, "close");
    const ours: string[] = [];
    const write = async (): Promise<void> => {
      while (child.exitCode === null)
        ours.push((await opened.jobs.submit(makeJob(accountId, { priceMicro: 1 }))).job.id);
    };
    const writing = Promise.all(Array.from({ length: 16 }, write));
    expect(await exited).toEqual([0, null]);
    await writing;
    expect(ids).toHaveLength(200);
    expect(await opened.jobs.unfinished()).toHaveLength(200 + ours.length);
    expect((await opened.accounts.get(accountId))?.balanceMicro).toBe(10_000_000 - 200 - ours.length);
    expect(await opened.ledger.verify()).toMatchObject(RIGHT);
  });

  it("removes expired sessions and idempotency keys every hour", async () => {
    const clock = new ManualClock();
    store = await openSqliteStore({ path: folder.file("atoll.db"), clock });
    const accountId = await makeAccount(store);
    const expiresAtMs = clock.now() + 1_000;
    await store.accounts.createSession({ tokenHash: "t", accountId, createdAtMs: clock.now(), expiresAtMs }, 20);
    clock.advance(3_600_000);
    // Writes are applied in call order, so the cleanup has been applied when this write has resolved.
    await store.check();
    expect(await store.accounts.findSession("t", 0)).toBeUndefined();
  });

  it("removes audits 90 days after the end of their jobs, unless they are due or their earning is held", async () => {
    const clock = new ManualClock();
    const opened = await openSqliteStore({ path: folder.file("atoll.db"), clock });
    store = opened;
    const [clientId, ownerId] = [await makeAccount(opened), await makeAccount(opened)];
    const endedAtMs = clock.now();
    const end = async (slug: string, verdict: "none" | "due", atMs = endedAtMs): Promise<string> => {
      const job = makeJob(clientId, { id: `${firstIdAt("job", atMs)}${slug}${verdict}`, slug, createdAtMs: atMs });
      const credits = { chargedMicro: 1_000_000, earnedMicro: 900_000 };
      await runJob(opened, job);
      await opened.jobs.end(
        makeEnding(job, {
          atMs,
          earning: { accountId: ownerId, micro: credits.earnedMicro, isHeld: true },
          audit: {
            ownerAccountId: ownerId,
            slug,
            clientAccountId: clientId,
            ...credits,
            earning: "held",
            verdict,
            mayAudit: true,
          },
        }),
      );
      return job.id;
    };
    const paid = await end("paid", "none");
    const due = await end("paid", "due");
    const held = await end("held", "none");
    const younger = await end("paid", "none", endedAtMs + 7_200_000);
    const standing = { ...NEW_STANDING, state: "trusted" } as const;
    await opened.audits.set({ ownerAccountId: ownerId, slug: "paid", standing }, endedAtMs);
    const left = async (): Promise<boolean[]> =>
      Promise.all([paid, due, held, younger].map(async (id) => (await opened.audits.ofJob(id)) !== undefined));
    clock.advance(90 * 86_400_000 - 1);
    await opened.check();
    expect(await left()).toEqual([true, true, true, true]);
    clock.advance(3_600_000);
    await opened.check();
    expect(await left()).toEqual([false, true, true, true]);
    expect(await opened.ledger.verify()).toMatchObject(RIGHT);
  });

  it("refuses an in-memory database", async () => {
    await expect(openSqliteStore({ path: ":memory:", clock: new ManualClock() })).rejects.toThrow(/needs a file/);
  });
});
