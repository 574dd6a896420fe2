import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hashSecret } from "../../../../coordinator/accounts/secrets.ts";
import type { NewBatch, NewJob } from "../../../../coordinator/store/jobs/job-store.ts";
import type { PostgresStore } from "../../../../coordinator/store/postgres/postgres-store.ts";
import { newId } from "../../../../shared/ids.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import type { PostgresDatabase } from "../../../support/servers/postgres-database.ts";
import { withDatabase } from "../../../support/servers/with-servers.ts";
import {
  ISLAND_ID,
  MADE_AT_MS,
  endUncharged,
  makeAccount,
  makeEnding,
  makeJob,
  runJob,
} from "../contract/store-builders.ts";

const LEASE_MS = 60_000;
const SELF = { address: "http://127.0.0.1:1", version: "1" };
const LIMIT = 10;
await withDatabase(describeLimits);

function describeLimits(database: PostgresDatabase): void {
  let one: PostgresStore;
  let two: PostgresStore;
  let accountId: string;
  beforeEach(async () => {
    await database.empty();
    [one, two] = ["c1", "c2"].map((id) => database.store(new ManualClock(), id)) as [PostgresStore, PostgresStore];
    for (const store of [one, two]) await store.cluster.renew(SELF, LEASE_MS);
    accountId = await makeAccount(one, { grantMicro: 1_000_000_000 });
  });
  afterEach(() => Promise.all([one.close(), two.close()]));

  const job = (override: Partial<NewJob> = {}): NewJob => makeJob(accountId, { maxJobs: LIMIT, ...override });
  /** Submits jobs at both coordinators concurrently. Returns the jobs that were stored. */
  async function race(jobs: readonly NewJob[]): Promise<NewJob[]> {
    const submitted = jobs.map((each, index) => (index % 2 === 0 ? one : two).jobs.submit(each));
    const results = await Promise.allSettled(submitted);
    return jobs.filter((_, index) => results[index]?.status === "fulfilled");
  }
  const batchOf = (count: number, override: Partial<NewBatch> = {}): NewBatch => {
    const jobs = Array.from({ length: count }, () => makeJob(accountId, { priceMicro: 0 }));
    const { slug, workloadId, priority, createdAtMs, idempotency, webhook, postings } = jobs[0] as NewJob;
    const id = newId("batch", MADE_AT_MS);
    const common = { accountId, slug, workloadId, priority, createdAtMs, idempotency, webhook, postings };
    return { id, ...common, failMode: "best_effort", slotLimit: null, jobs, ...override };
  };
  const holdsQuota = async (store: PostgresStore) => (await store.jobs.unfinished()).map((each) => each.holdsQuota);

  describe("unfinished jobs of an account submitted at two coordinators concurrently", () => {
    it.each([0, 1_000_000])("are stored up to the limit, and an end frees a slot (price %i)", async (priceMicro) => {
      const stored = await race(Array.from({ length: 40 }, () => job({ priceMicro })));
      expect(stored).toHaveLength(LIMIT);
      await expect(two.jobs.submit(job({ priceMicro }))).rejects.toMatchObject({
        code: "rate_limited",
        limit: "concurrent_jobs",
      });
      const [[first], [second]] = [await one.jobs.unfinished(), await two.jobs.unfinished()];
      const [store, ended] = first === undefined ? [two, second] : [one, first];
      await endUncharged(store, ended?.id as string, { event: "cancel", attempt: 0 });
      expect(await race([job({ priceMicro }), job({ priceMicro })])).toHaveLength(1);
      expect(await one.ledger.verify()).toMatchObject({ sumMicro: 0, wrongHolds: [], wrongBalances: [] });
    });

    it("keep their quota slots with the coordinator that adopts them, which frees them", async () => {
      const jobs = await race(Array.from({ length: LIMIT }, () => job()));
      await one.cluster.leave();
      await two.cluster.adopt(100);
      await expect(two.jobs.submit(job())).rejects.toMatchObject({ code: "rate_limited" });
      for (const { id } of jobs) await endUncharged(two, id, { event: "cancel", attempt: 0 });
      expect(await race(Array.from({ length: 20 }, () => job()))).toHaveLength(LIMIT);
    });

    it("take no slot if they are refused for another reason", async () => {
      const poor = await makeAccount(one, { grantMicro: 0 });
      await expect(one.jobs.submit(makeJob(poor, { maxJobs: 1 }))).rejects.toMatchObject({
        code: "insufficient_credits",
      });
      const free = makeJob(poor, { maxJobs: 1, priceMicro: 0 });
      expect((await one.jobs.submit(free)).created).toBe(true);
      await expect(two.jobs.submit(makeJob(poor, { maxJobs: 1, priceMicro: 0 }))).rejects.toMatchObject({
        code: "rate_limited",
      });
    });
  });

  describe("an Idempotency-Key used at two coordinators concurrently", () => {
    it.each([0, 1_000_000])(
      "creates one job, even if the account is full afterwards (price %i)",
      async (priceMicro) => {
        for (let round = 0; round < 10; round += 1) {
          const idempotency = { key: `key ${round}`, bodyHash: "same" };
          const outcomes = await Promise.all(
            Array.from({ length: 8 }, (_, index) =>
              (index % 2 === 0 ? one : two).jobs.submit(job({ priceMicro, idempotency, maxJobs: round + 1 })),
            ),
          );
          expect(new Set(outcomes.map((outcome) => outcome.job.id)).size).toBe(1);
          expect(outcomes.filter(({ created }) => created)).toHaveLength(1);
        }
        const other = job({ priceMicro, idempotency: { key: "key 3", bodyHash: "other" } });
        await expect(two.jobs.submit(other)).rejects.toMatchObject({ code: "idempotency_conflict" });
        const all = await Promise.all([one.jobs.unfinished(), two.jobs.unfinished()]);
        expect(all.flat()).toHaveLength(10);
      },
    );
  });

  describe("batches submitted at two coordinators concurrently", () => {
    it("take quota slots for their first jobs, up to the limit together, and free them", async () => {
      const batches = Array.from({ length: 6 }, () => batchOf(4, { slotLimit: LIMIT }));
      const outcomes = await Promise.all(
        batches.map((batch, index) => (index % 2 === 0 ? one : two).batches.submit(batch)),
      );
      expect(outcomes.reduce((sum, { admitted }) => sum + admitted, 0)).toBe(LIMIT);
      const all = (await Promise.all([one.jobs.unfinished(), two.jobs.unfinished()])).flat();
      const withSlot = new Set(all.flatMap(({ id, holdsQuota: has }) => (has === true ? [id] : [])));
      for (const [index, { jobs }] of batches.entries())
        expect(jobs.map(({ id }) => withSlot.has(id))).toEqual(
          jobs.map((_, at) => at < (outcomes[index]?.admitted ?? 0)),
        );
      await expect(two.jobs.submit(job({ priceMicro: 0 }))).rejects.toMatchObject({ code: "rate_limited" });
      for (const store of [one, two])
        for (const { id } of await store.jobs.unfinished())
          await endUncharged(store, id, { event: "cancel", attempt: 0 });
      expect(await race(Array.from({ length: 20 }, () => job({ priceMicro: 0 })))).toHaveLength(LIMIT);
    });

    it("are stored without slots if the account is above the limit or other jobs wait", async () => {
      await race(Array.from({ length: 4 }, () => job({ priceMicro: 0 })));
      expect(await one.batches.submit(batchOf(2, { slotLimit: 3 }))).toMatchObject({ created: true, admitted: 0 });
      expect(await one.batches.submit(batchOf(2))).toMatchObject({ created: true, admitted: 0 });
      const idempotency = { key: "k", bodyHash: "b" };
      const again = batchOf(2, { slotLimit: 5, idempotency });
      expect(await one.batches.submit(again)).toMatchObject({ created: true, admitted: 1 });
      expect(await two.batches.submit({ ...again, slotLimit: LIMIT })).toMatchObject({ created: false, admitted: 0 });
      expect(await race(Array.from({ length: LIMIT }, () => job({ priceMicro: 0 })))).toHaveLength(LIMIT - 5);
    });
  });

  it("a key's monthly credits are spent once by jobs submitted at two coordinators concurrently", async () => {
    const monthly = { limitMicro: 7_500_000, month: 672, neededMicro: 1_000_000 };
    const byKey = (): NewJob => makeJob(accountId, { apiKey: { number: 1, monthly } });
    const stored = await race(Array.from({ length: 20 }, byKey));
    expect(stored).toHaveLength(7);
    await expect(two.jobs.submit(byKey())).rejects.toMatchObject({ code: "key_credits_exceeded", leftMicro: 500_000 });
    // The new owner of a job returns the credits that the job was not charged.
    await one.cluster.leave();
    await two.cluster.adopt(100);
    for (const { id } of stored.slice(0, 3)) await endUncharged(two, id, { event: "cancel", attempt: 0 });
    expect(await race(Array.from({ length: 8 }, byKey))).toHaveLength(3);
  });

  describe("quota slots of parked jobs", () => {
    it("are assigned in order up to the limit, at either coordinator", async () => {
      const [first, second] = [batchOf(8), batchOf(8)];
      await one.batches.submit(first);
      await two.batches.submit(second);
      const [firstIds, secondIds] = [first, second].map(({ jobs }) => jobs.map(({ id }) => id)) as [string[], string[]];
      expect(await one.cluster.quotaSlots.take(accountId, firstIds, LIMIT)).toEqual(firstIds);
      expect(await two.cluster.quotaSlots.take(accountId, secondIds, LIMIT)).toEqual(secondIds.slice(0, 2));
      // Jobs with a slot keep it, and take no other slot.
      expect(await two.cluster.quotaSlots.take(accountId, secondIds, LIMIT)).toEqual(secondIds.slice(0, 2));
      await expect(one.jobs.submit(job({ priceMicro: 0 }))).rejects.toMatchObject({ code: "rate_limited" });
      await endUncharged(one, firstIds[5] as string, { event: "cancel", attempt: 0 });
      expect(await two.cluster.quotaSlots.take(accountId, secondIds, LIMIT)).toEqual(secondIds.slice(0, 3));
      expect(await two.cluster.quotaSlots.take(accountId, secondIds, 1)).toEqual(secondIds.slice(0, 3));
    });

    it("are not assigned to ended jobs or those of another coordinator, and are not freed by jobs without one", async () => {
      const batch = batchOf(3);
      await one.batches.submit(batch);
      const ids = batch.jobs.map(({ id }) => id) as [string, string, string];
      await endUncharged(one, ids[0], { event: "cancel", attempt: 0 });
      expect(await two.cluster.quotaSlots.take(accountId, ids, LIMIT)).toEqual([]);
      expect(await one.cluster.quotaSlots.take(accountId, ids, 1)).toEqual([ids[1]]);
      expect(await one.cluster.quotaSlots.take(accountId, [...ids].reverse(), 2)).toEqual([ids[2], ids[1]]);
      expect(await race(Array.from({ length: LIMIT }, () => job({ priceMicro: 0 })))).toHaveLength(LIMIT - 2);
    });

    it("are known to the coordinator that adopts the jobs", async () => {
      const batch = batchOf(4);
      await one.batches.submit(batch);
      await one.cluster.quotaSlots.take(
        accountId,
        batch.jobs.map(({ id }) => id),
        2,
      );
      await runJob(one, job());
      expect(await holdsQuota(one)).toEqual([true, true, false, false, true]);
      await one.cluster.leave();
      const adopted = await two.cluster.adopt(100);
      expect((await two.cluster.owned(adopted)).map((each) => each.holdsQuota)).toEqual([
        true,
        true,
        false,
        false,
        true,
      ]);
      expect((await two.jobs.get(adopted[0] as string))?.holdsQuota).toBeUndefined();
    });

    it("never exceed the limit in races with ends and submissions", async () => {
      const batches = [batchOf(30), batchOf(30)] as const;
      await one.batches.submit(batches[0]);
      await two.batches.submit(batches[1]);
      const waiting = batches.map(({ jobs }) => jobs.map(({ id }) => id)) as [string[], string[]];
      let [ended, most] = [0, 0];
      for (let round = 0; ended < 60 && round < 60; round += 1) {
        const stores = [one, two] as const;
        const taken = await Promise.all(
          stores.map((store, index) => store.cluster.quotaSlots.take(accountId, waiting[index as 0 | 1], LIMIT)),
        );
        most = Math.max(most, taken.flat().length);
        const ends = taken.flatMap((ids, index) =>
          ids.slice(0, 3).map((id) => endUncharged(stores[index as 0 | 1], id, { event: "cancel", attempt: 0 })),
        );
        await Promise.all(ends);
        ended += ends.length;
        for (const [index, ids] of taken.entries()) {
          const gone = new Set(ids.slice(0, 3));
          waiting[index as 0 | 1] = waiting[index as 0 | 1].filter((id) => !gone.has(id));
        }
      }
      expect([ended, most]).toEqual([60, LIMIT]);
      expect(await race(Array.from({ length: 20 }, () => job({ priceMicro: 0 })))).toHaveLength(LIMIT);
    });
  });

  describe("credentials that end at another coordinator", () => {
    const key = async (id: string): Promise<number> =>
      one.accounts.createKey(
        {
          id,
          accountId,
          name: "k",
          prefix: "ak_",
          scopes: ["read"],
          createdAtMs: MADE_AT_MS,
          secretHash: hashSecret(id),
        },
        { maxKeys: 9, revokedAfterMs: 0 },
      );
    const session = (tokenHash: string, maxSessions = 9): Promise<void> =>
      one.accounts.createSession(
        { tokenHash, accountId, createdAtMs: MADE_AT_MS + tokenHash.length, expiresAtMs: MADE_AT_MS * 2 },
        maxSessions,
      );

    it("are reported with the revision of the change to each coordinator that has not seen it", async () => {
      await key("key_1");
      await session("s");
      await session("se");
      await one.accounts.createIslandToken(
        { id: "itk_1", accountId, name: "t", createdAtMs: MADE_AT_MS, tokenHash: "t" },
        { maxTokens: 1, revokedAfterMs: 0 },
      );
      const before = await two.cluster.credentialChanges.since(null);
      expect(before).toMatchObject({ revision: await two.accounts.credentialsRevision(), ended: [] });
      expect(await two.accounts.endedOf(["key_1", "itk_1", "s", "unknown"])).toEqual(["unknown"]);
      await one.accounts.touchKey("key_1", MADE_AT_MS + 1);
      const { revision, ended } = before;
      expect(await two.cluster.credentialChanges.since(revision)).toMatchObject({ revision, ended });
      await one.accounts.revokeKey(accountId, "key_1", MADE_AT_MS);
      const first = await two.cluster.credentialChanges.since(before.revision);
      expect(first.ended).toEqual(["key_1"]);
      expect(first.revision).toBeGreaterThan(before.revision);
      await one.accounts.revokeIslandToken(accountId, "itk_1", MADE_AT_MS);
      await session("ses", 1);
      await one.accounts.setLimits(accountId, { requestsPerMinute: 7 });
      const second = await two.cluster.credentialChanges.since(first.revision);
      expect([second.ended[0], second.ended.slice(1).sort()]).toEqual(["itk_1", ["s", "se"]]);
      const none = { revision: second.revision, ended: [] };
      expect(await two.cluster.credentialChanges.since(second.revision)).toMatchObject(none);
      await one.accounts.delete(accountId, MADE_AT_MS);
      expect((await two.cluster.credentialChanges.since(second.revision)).ended.toSorted()).toEqual([
        "itk_1",
        "key_1",
        "ses",
      ]);
      expect(await two.accounts.endedOf(["key_1", "itk_1", "ses"])).toEqual(["key_1", "itk_1", "ses"]);
    });
  });

  describe("sessions of Islands", () => {
    it("are numbered in the order in which they start, at any coordinator", async () => {
      const numbers: number[] = [];
      for (const store of [one, two, two, one]) numbers.push(await store.cluster.islandSessions.nextNumber());
      expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
      expect(new Set(numbers).size).toBe(4);
    });
  });

  it("a completed job of an Island frees its quota slot", async () => {
    const running = job({ maxJobs: 1 });
    await runJob(one, running);
    await expect(two.jobs.submit(job({ maxJobs: 1 }))).rejects.toMatchObject({ code: "rate_limited" });
    const taken = await two.cluster.claim({ jobId: running.id, attempt: 1, islandId: ISLAND_ID });
    expect(taken?.holdsQuota).toBe(true);
    await two.jobs.end(makeEnding(running, { output: "x" }));
    expect((await one.jobs.submit(job({ maxJobs: 1 }))).created).toBe(true);
  });
}
