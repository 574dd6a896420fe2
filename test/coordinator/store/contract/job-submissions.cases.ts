import { expect } from "vitest";
import {
  ACTIVE_COLUMNS,
  INTERNAL_COLUMNS,
  jobTable,
  SUBMITTED_COLUMNS,
} from "../../../../coordinator/store/jobs/job-tables.ts";
import { balanceOf, type Check, MADE_AT_MS, makeAccount, makeJob, runJob } from "./store-builders.ts";

const HOUR_MS = 3_600_000;

export function describeSubmissions(check: Check): void {
  check("jobs.submit() stores the job as pending and returns it as get() does", async (store) => {
    const accountId = await makeAccount(store);
    const job = makeJob(accountId, { input: { prompt: "né\u0000\u{1f3dd}", nested: { list: [1, null] } } });
    const { created, job: submitted } = await store.jobs.submit(job);
    expect(created).toBe(true);
    expect(submitted).toMatchObject({ id: job.id, state: "pending", attempt: 0, islandId: null, output: undefined });
    expect(await store.jobs.get(job.id)).toEqual(submitted);
    expect(await store.jobs.input(job.id)).toEqual(job.input);
  });

  check("jobs.get() and jobs.unfinished() return every column of a submission", async (store) => {
    const accountId = await makeAccount(store);
    const job = makeJob(accountId, {
      jobClass: "chat",
      isClientBound: true,
      ignoredParameters: ["user"],
      rates: { prompt: 4_000_000, completion: 16_000_000 },
      terms: { trust: "proven", audit: "never", reader: "user_1" },
    });
    const given = Object.fromEntries(SUBMITTED_COLUMNS.map((member) => [member, job[member]]));
    // Every column has a value, because the test would prove nothing for an empty column.
    expect(Object.entries(given).filter(([, value]) => (value ?? false) === false)).toEqual([]);
    await store.jobs.submit(job);
    const record = await store.jobs.get(job.id);
    expect(record).toMatchObject(given);
    const [active] = await store.jobs.unfinished();
    expect(active).toMatchObject(Object.fromEntries(ACTIVE_COLUMNS.map((member) => [member, record?.[member]])));
    const members = new Set(Object.keys(record ?? {}));
    const unread = Object.keys(jobTable.definition).filter((member) => !members.has(member));
    expect(unread.toSorted()).toEqual(["completionTokens", "promptTokens", ...INTERNAL_COLUMNS].toSorted());
  });

  check("jobs.get() returns the ignored parameters of the request", async (store) => {
    const accountId = await makeAccount(store);
    const ignoredParameters = ["output_config.effort", "tools[8]"];
    const [hinted, plain] = [makeJob(accountId, { ignoredParameters }), makeJob(accountId)];
    await Promise.all([store.jobs.submit(hinted), store.jobs.submit(plain)]);
    expect((await store.jobs.get(hinted.id))?.ignoredParameters).toEqual(ignoredParameters);
    expect((await store.jobs.get(plain.id))?.ignoredParameters).toBeNull();
  });

  check(
    "jobs.accountOf() returns the account that submitted the job, or undefined for an unknown id",
    async (store) => {
      const accountId = await makeAccount(store);
      await makeAccount(store);
      const job = makeJob(accountId);
      await store.jobs.submit(job);
      expect(await store.jobs.accountOf(job.id)).toBe(accountId);
      expect(await store.jobs.accountOf("job_none")).toBeUndefined();
    },
  );

  check("jobs.submit() holds the price", async (store) => {
    const accountId = await makeAccount(store, { grantMicro: 1_000_000 });
    await store.jobs.submit(makeJob(accountId));
    expect(await balanceOf(store, accountId)).toBe(0);
  });

  check("jobs.submit() without enough credits rejects with insufficient_credits and stores nothing", async (store) => {
    const accountId = await makeAccount(store, { grantMicro: 999_999 });
    const job = makeJob(accountId);
    await expect(store.jobs.submit(job)).rejects.toMatchObject({
      code: "insufficient_credits",
      requiredMicro: 1_000_000n,
      balanceMicro: 999_999n,
    });
    expect(await store.jobs.get(job.id)).toBeUndefined();
    expect(await balanceOf(store, accountId)).toBe(999_999);
  });

  check("jobs.submit() never spends a credit twice in concurrent calls", async (store) => {
    const accountId = await makeAccount(store, { grantMicro: 3_000_000 });
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => store.jobs.submit(makeJob(accountId))));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    expect(await balanceOf(store, accountId)).toBe(0);
  });

  check("jobs.submit() with a used Idempotency-Key and the same body returns the first job", async (store) => {
    const accountId = await makeAccount(store);
    const idempotency = { key: "k", bodyHash: "b" };
    const first = makeJob(accountId, { idempotency });
    await runJob(store, first);
    const second = makeJob(accountId, { idempotency, createdAtMs: MADE_AT_MS + 24 * HOUR_MS - 1 });
    const { created, job } = await store.jobs.submit(second);
    expect(created).toBe(false);
    expect(job).toMatchObject({ id: first.id, state: "running" });
    expect(await store.jobs.get(second.id)).toBeUndefined();
    expect(await balanceOf(store, accountId)).toBe(9_000_000);
  });

  check("jobs.submit() called twice concurrently with an Idempotency-Key creates one job", async (store) => {
    const accountId = await makeAccount(store);
    const idempotency = { key: "k", bodyHash: "b" };
    const outcomes = await Promise.all([
      store.jobs.submit(makeJob(accountId, { idempotency })),
      store.jobs.submit(makeJob(accountId, { idempotency })),
    ]);
    expect(outcomes.map(({ created }) => created)).toEqual([true, false]);
    expect(outcomes[1]?.job.id).toBe(outcomes[0]?.job.id);
  });

  check(
    "jobs.submit() with a used Idempotency-Key and another body rejects with idempotency_conflict",
    async (store) => {
      const accountId = await makeAccount(store);
      await store.jobs.submit(makeJob(accountId, { idempotency: { key: "k", bodyHash: "b" } }));
      await expect(
        store.jobs.submit(makeJob(accountId, { idempotency: { key: "k", bodyHash: "c" } })),
      ).rejects.toMatchObject({ code: "idempotency_conflict" });
    },
  );

  check("jobs.findRepeat() returns what submit() would return, even for a submission in progress", async (store) => {
    const accountId = await makeAccount(store);
    const idempotency = { key: "k", bodyHash: "b" };
    const job = makeJob(accountId, { idempotency });
    expect(await store.jobs.findRepeat(makeJob(accountId, { idempotency }))).toBeUndefined();
    const submitted = store.jobs.submit(job);
    expect((await store.jobs.findRepeat(makeJob(accountId, { idempotency })))?.id).toBe(job.id);
    await submitted;
    expect(await store.jobs.findRepeat(makeJob(accountId))).toBeUndefined();
    const other = makeJob(accountId, { idempotency: { key: "k", bodyHash: "c" } });
    await expect(store.jobs.findRepeat(other)).rejects.toMatchObject({ code: "idempotency_conflict" });
  });

  check("jobs.submit() frees an Idempotency-Key after 24 h, and never shares it between accounts", async (store) => {
    const accountId = await makeAccount(store);
    const other = await makeAccount(store);
    await store.jobs.submit(makeJob(accountId, { idempotency: { key: "k", bodyHash: "b" } }));
    const theirs = makeJob(other, { idempotency: { key: "k", bodyHash: "c" } });
    expect((await store.jobs.submit(theirs)).created).toBe(true);
    const createdAtMs = MADE_AT_MS + 24 * HOUR_MS;
    const later = makeJob(accountId, { createdAtMs, idempotency: { key: "k", bodyHash: "c" } });
    expect((await store.jobs.submit(later)).created).toBe(true);
    const again = makeJob(accountId, { createdAtMs, idempotency: { key: "k", bodyHash: "c" } });
    expect((await store.jobs.submit(again)).job.id).toBe(later.id);
  });

  check("jobs.submit() of an existing id rejects and leaves the first job unchanged", async (store) => {
    const accountId = await makeAccount(store);
    const job = makeJob(accountId);
    await store.jobs.submit(job);
    await expect(store.jobs.submit({ ...job, slug: "other" })).rejects.toThrow(/./);
    expect((await store.jobs.get(job.id))?.slug).toBe("tiny-chat");
    expect(await balanceOf(store, accountId)).toBe(9_000_000);
  });
}
