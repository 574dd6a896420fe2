import pg from "pg";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { NO_TERMS } from "../../../../coordinator/credits/trust.ts";
import { NotOwnerError } from "../../../../coordinator/store/cluster-store.ts";
import type { PostgresStore } from "../../../../coordinator/store/postgres/postgres-store.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import type { PostgresDatabase } from "../../../support/servers/postgres-database.ts";
import { withDatabase } from "../../../support/servers/with-servers.ts";
import { ISLAND_ID, MADE_AT_MS, makeAccount, makeEnding, makeJob, runJob } from "../contract/store-builders.ts";

const LEASE_MS = 60_000;
const SELF = { address: "http://127.0.0.1:1", version: "1" };
await withDatabase(describeCluster);

function describeCluster(database: PostgresDatabase): void {
  let [one, two, three]: PostgresStore[] = [];
  const all = (): PostgresStore[] => [one, two, three] as PostgresStore[];
  beforeEach(async () => {
    await database.empty();
    [one, two, three] = ["c1", "c2", "c3"].map((id) => database.store(new ManualClock(), id));
    for (const store of all()) await store.cluster.renew(SELF, LEASE_MS);
  });
  afterEach(() => Promise.all(all().map((store) => store.close())));
  const idsOf = async (store: PostgresStore | undefined) => (await store?.jobs.unfinished())?.map(({ id }) => id);

  describe("ClusterStore on one PostgreSQL", () => {
    it("peers() returns coordinators while they renew their leases", async () => {
      expect(await one?.cluster.peers()).toEqual(["c1", "c2", "c3"].map((id) => ({ id, ...SELF })));
      await two?.cluster.leave();
      await three?.cluster.renew(SELF, -1);
      expect((await one?.cluster.peers())?.map(({ id }) => id)).toEqual(["c1"]);
      expect(await three?.cluster.renew(SELF, LEASE_MS)).toBe(true);
      expect(await two?.cluster.renew(SELF, LEASE_MS)).toBe(false);
    });

    it("each coordinator starts with its own jobs only, and cannot write those of others", async () => {
      const accountId = await makeAccount(one as PostgresStore);
      const [mine, other] = [makeJob(accountId), makeJob(accountId)];
      await one?.jobs.submit(mine);
      await runJob(two as PostgresStore, other);
      expect([await idsOf(one), await idsOf(two)]).toEqual([[mine.id], [other.id]]);
      const fenced = { jobId: other.id, ownerId: "c2" };
      const move = { jobId: other.id, attempt: 1, islandId: null, atMs: MADE_AT_MS, event: "lose" } as const;
      await expect(one?.jobs.move(move)).rejects.toMatchObject(fenced);
      await expect(one?.jobs.end(makeEnding(other, { output: "x" }))).rejects.toBeInstanceOf(NotOwnerError);
      const items = [{ type: "token", content: "x", count: 1 }] as const;
      await expect(one?.jobs.appendFeed({ jobId: other.id, attempt: 1, seq: 1, items })).rejects.toMatchObject(fenced);
      expect(await one?.jobs.get(other.id)).toMatchObject({ state: "running", creditsUsedMicro: 0 });
      expect(await one?.ledger.verify()).toMatchObject({ sumMicro: 0, wrongHolds: [], wrongBalances: [] });
    });

    it("adopt() gives each job of a dead coordinator one new owner, and the dead one can no longer write", async () => {
      const accountId = await makeAccount(one as PostgresStore, { grantMicro: 100_000_000 });
      const jobs = Array.from({ length: 50 }, () => makeJob(accountId));
      await Promise.all(jobs.map((job) => (one as PostgresStore).jobs.submit(job)));
      const adopt = async (store = two): Promise<readonly string[]> => (await store?.cluster.adopt(20)) ?? [];
      expect([await two?.cluster.reap(), await adopt(), await adopt(three)]).toEqual([0, [], []]);
      await one?.cluster.renew(SELF, -1);
      expect(await adopt()).toEqual([]);
      expect([await two?.cluster.reap(), await three?.cluster.reap()]).toEqual([1, 0]);
      const adopted = [...(await Promise.all([adopt(), adopt(three), adopt()])).flat(), ...(await adopt(three))];
      expect(adopted.toSorted()).toEqual(jobs.map(({ id }) => id).toSorted());
      expect(await adopt()).toEqual([]);
      const owned = [...((await idsOf(two)) ?? []), ...((await idsOf(three)) ?? [])];
      expect(owned.toSorted()).toEqual(jobs.map(({ id }) => id).toSorted());
      expect(await idsOf(one)).toEqual([]);
      expect(two?.cluster.takenOver.reaped).toBe(1);
      expect((two?.cluster.takenOver.adopted ?? 0) + (three?.cluster.takenOver.adopted ?? 0)).toBe(jobs.length);
      const cancel = makeEnding(jobs[0] as never, { event: "cancel", attempt: 0, chargeMicro: 0 });
      await expect(one?.jobs.end(cancel)).rejects.toBeInstanceOf(NotOwnerError);
      expect(await one?.cluster.renew(SELF, LEASE_MS)).toBe(false);
    });

    it("transfer() moves waiting jobs with their terms, but none that an Island has", async () => {
      const accountId = await makeAccount(one as PostgresStore);
      const terms = { ...NO_TERMS, reader: accountId };
      const [waiting, running] = [makeJob(accountId, { terms }), makeJob(accountId)];
      await one?.jobs.submit(waiting);
      await runJob(one as PostgresStore, running);
      expect(await one?.cluster.transfer([waiting.id, running.id, "job_none"], "c2")).toEqual([waiting.id]);
      expect(await one?.cluster.transfer([waiting.id], "c3")).toEqual([]);
      expect([await idsOf(one), await idsOf(two)]).toEqual([[running.id], [waiting.id]]);
      expect(await three?.cluster.ownerOf(waiting.id)).toBe("c2");
      expect(await two?.cluster.owned([waiting.id, running.id])).toMatchObject([{ id: waiting.id, terms }]);
      expect([await two?.cluster.ownedIds("", 9), await two?.cluster.ownedIds(waiting.id, 9)]).toEqual([
        [waiting.id],
        [],
      ]);
    });

    it("transfer() succeeds if another transaction locks the jobs in reverse order", async () => {
      const accountId = await makeAccount(one as PostgresStore);
      const jobs = [makeJob(accountId), makeJob(accountId)].toSorted((a, b) => (a.id < b.id ? -1 : 1));
      for (const job of jobs) await one?.jobs.submit(job);
      const [first, last] = jobs.map(({ id }) => id) as [string, string];
      const other = new pg.Client(database.address);
      await other.connect();
      onTestFinished(() => other.end());
      // The other session never checks for deadlocks, so that PostgreSQL does not abort it.
      await other.query("SET deadlock_timeout = '1h'");
      const lock = (id: string) => other.query("SELECT 1 FROM jobs WHERE id = $1 FOR UPDATE", [id]);
      await other.query("BEGIN");
      await lock(last);
      const moved = one?.cluster.transfer([first, last], "c2");
      const waiting = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'atoll' AND wait_event_type = 'Lock'";
      await expect.poll(async () => (await database.server.query(waiting)).rowCount).toBe(1);
      await lock(first);
      await other.query("COMMIT");
      expect(await moved).toEqual([first, last]);
    });

    it("claim() takes a waiting job whose attempt was assigned but not stored", async () => {
      const accountId = await makeAccount(one as PostgresStore);
      const job = makeJob(accountId);
      await one?.jobs.submit(job);
      const attempt = { jobId: job.id, attempt: 1, islandId: ISLAND_ID };
      expect(await two?.cluster.claim(attempt)).toMatchObject({ id: job.id, state: "pending", attempt: 0 });
      const assign = { jobId: job.id, event: "assign", attempt: 1, islandId: ISLAND_ID, atMs: MADE_AT_MS } as const;
      await expect(one?.jobs.move(assign)).rejects.toMatchObject({ ownerId: "c2" });
      await two?.jobs.move(assign);
      expect(await three?.cluster.claim({ ...attempt, attempt: 2 })).toBeUndefined();
    });

    it("claim() takes the attempt of an Island only if it is the current one", async () => {
      const accountId = await makeAccount(one as PostgresStore);
      const job = makeJob(accountId);
      await runJob(one as PostgresStore, job);
      const attempt = { jobId: job.id, attempt: 1, islandId: ISLAND_ID };
      expect(await two?.cluster.claim({ ...attempt, attempt: 2 })).toBeUndefined();
      expect(await two?.cluster.claim({ ...attempt, islandId: "another" })).toBeUndefined();
      expect(await two?.cluster.claim(attempt)).toMatchObject({ id: job.id, state: "running", isClientBound: false });
      await two?.jobs.end(makeEnding(job, { output: "done" }));
      await expect(one?.jobs.end(makeEnding(job, { output: "late" }))).rejects.toMatchObject({ ownerId: "c2" });
      expect(await three?.cluster.claim(attempt)).toBeUndefined();
      expect([two?.cluster.takenOver.claimed, three?.cluster.takenOver.claimed]).toEqual([1, 0]);
      expect(await three?.cluster.ownerOf(job.id)).toBeUndefined();
    });
  });
}
