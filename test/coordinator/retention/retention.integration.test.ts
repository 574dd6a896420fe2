import { statSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openRetention, type Retention } from "../../../coordinator/retention/retention.ts";
import type { NewJob } from "../../../coordinator/store/jobs/job-store.ts";
import { until } from "../../support/http/http.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { testEnv } from "../../support/test-env.ts";
import { IS_POSTGRES, openTestStore, type TestStore } from "../../support/store/test-store.ts";
import {
  makeAccount,
  makeEnding,
  makeJob,
  MADE_AT_MS,
  runJob,
  temporaryFolder,
} from "../store/contract/store-builders.ts";

const DAY_MS = 86_400_000;
const KEEP = {
  keepInputsMs: 10 * DAY_MS,
  keepOutputsMs: 20 * DAY_MS,
  keepWebhookLogMs: 7 * DAY_MS,
  keepUnseenIslandsMs: 0,
};

let folder: ReturnType<typeof temporaryFolder>;
let clock: ManualClock;
let store: TestStore;
let retention: Retention;
let accountId: string;
const log: { info: unknown[]; error: unknown[] } = { info: [], error: [] };

function makeRetention(periods: Partial<typeof KEEP> = {}): Retention {
  const noted = {
    info: (facts: unknown) => void log.info.push(facts),
    warn: () => undefined,
    error: (facts: unknown) => void log.error.push(facts),
  };
  const env = testEnv({ ...KEEP, ...periods }, { clock, log: noted });
  return openRetention(env, store, () => []);
}

beforeEach(async () => {
  folder = temporaryFolder();
  clock = new ManualClock();
  store = await openTestStore({ path: folder.file("atoll.db"), clock });
  // Coordinators of a network take turns by the database's clock, which this test cannot advance.
  Object.assign(store.content, { takeSweep: async () => true });
  accountId = await makeAccount(store, { grantMicro: 1_000_000_000 });
  retention = makeRetention();
});
afterEach(async () => {
  await retention.close();
  const { wrongBalances, wrongHolds, sumMicro } = await store.ledger.verify();
  expect([wrongBalances, wrongHolds, sumMicro, log.error]).toEqual([[], [], 0, []]);
  await store.close();
  folder[Symbol.dispose]();
});

async function complete(override: Partial<NewJob> = {}, images: readonly string[] = ["Hello"]): Promise<string> {
  const job = makeJob(accountId, { priceMicro: 1_000, ...override });
  await runJob(store, job);
  await Promise.all(
    images.map((data, index) =>
      store.jobs.appendFeed({
        jobId: job.id,
        attempt: 1,
        seq: index + 1,
        items: [{ type: "image", data, format: "png" }],
      }),
    ),
  );
  await store.jobs.end(makeEnding(job, { output: "Hello" }));
  return job.id;
}

const kept = async (jobId: string): Promise<unknown[]> => {
  const job = await store.jobs.get(jobId);
  const parts = await store.jobs.feed(jobId);
  return [job?.input["prompt"], job?.output, parts.length];
};

/** Records how many jobs each call of `remove` covers, and when a concurrent write completed. */
function watchSteps(): (number | string)[] {
  const steps: (number | string)[] = [];
  const { remove } = store.content;
  const watched: typeof remove = async (jobIds, removal) => {
    steps.push(jobIds.length);
    const done = remove(jobIds, removal);
    void store.check().then(() => steps.push("other write"));
    return done;
  };
  Object.assign(store.content, { remove: watched });
  return steps;
}

describe("the retention sweep", () => {
  it("removes inputs, then outputs, each at its time, and keeps status and charge", async () => {
    const jobId = await complete();
    clock.advance(9 * DAY_MS);
    expect(await retention.sweep()).toEqual({ inputs: 0, outputs: 0, webhooks: 0, islands: 0 });
    expect(await kept(jobId)).toEqual(["Say: atoll", "Hello", 1]);
    clock.advance(2 * DAY_MS);
    expect(await retention.sweep()).toMatchObject({ inputs: 1, outputs: 0 });
    expect(await kept(jobId)).toEqual([undefined, "Hello", 1]);
    clock.advance(10 * DAY_MS);
    expect(await retention.sweep()).toMatchObject({ inputs: 0, outputs: 1 });
    expect(await kept(jobId)).toEqual([undefined, undefined, 0]);
    expect(await store.jobs.get(jobId)).toMatchObject({
      state: "completed",
      usage: { promptTokens: 3, completionTokens: 2 },
      creditsUsedMicro: 1_000,
      inputRemovedAtMs: MADE_AT_MS + 11 * DAY_MS,
      outputRemovedAtMs: MADE_AT_MS + 21 * DAY_MS,
    });
  });

  it("keeps everything with unlimited retention, and never changes an unfinished job", async () => {
    retention = makeRetention({ keepOutputsMs: 0 });
    const [ended, unfinished] = [await complete(), makeJob(accountId)];
    await runJob(store, unfinished);
    clock.advance(1_000 * DAY_MS);
    expect(await retention.sweep()).toMatchObject({ inputs: 1, outputs: 0 });
    expect(await kept(ended)).toEqual([undefined, "Hello", 1]);
    expect(await store.jobs.input(unfinished.id)).toEqual({ prompt: "Say: atoll" });
  });

  it("removes at most 100 jobs in a step, with other writes between two steps", async () => {
    const jobs = Array.from({ length: 250 }, () => makeJob(accountId, { priceMicro: 0, postings: [] }));
    await Promise.all(jobs.map((job) => store.jobs.submit(job)));
    await Promise.all(
      jobs.map((job) => store.jobs.end(makeEnding(job, { event: "cancel", attempt: 0, postings: [] }))),
    );
    clock.advance(11 * DAY_MS);
    const steps = watchSteps();
    expect(await retention.sweep()).toMatchObject({ inputs: 250 });
    // Each write called during a step completed before the next step started.
    expect(steps).toEqual([100, "other write", 100, "other write", 50, "other write"]);
  });

  it("removes a large output in several steps of about 4 MB", async () => {
    const text = "x".repeat(1_024 * 1_024);
    const jobId = await complete(
      {},
      Array.from({ length: 10 }, () => text),
    );
    clock.advance(21 * DAY_MS);
    const steps = watchSteps();
    expect(await retention.sweep()).toMatchObject({ inputs: 1, outputs: 1 });
    expect(steps.filter((step) => step === 1)).toHaveLength(4);
    expect(await kept(jobId)).toEqual([undefined, undefined, 0]);
  });

  it.skipIf(IS_POSTGRES)("returns space to the file system, except for 10 MB", async () => {
    const text = "x".repeat(1_024 * 1_024);
    await complete(
      {},
      Array.from({ length: 24 }, () => text),
    );
    expect(await store.content.truncateLog()).toBe(true);
    const sizeMb = (): number => statSync(join(folder.path, "atoll.db")).size / 1_048_576;
    expect(sizeMb()).toBeGreaterThan(24);
    clock.advance(21 * DAY_MS);
    await retention.sweep();
    expect(await store.content.truncateLog()).toBe(true);
    expect(sizeMb()).toBeLessThan(12);
  });

  it("deletes delivered and failed webhooks with their secrets, and keeps pending ones", async () => {
    const webhook = (id: string) => ({
      id,
      url: "https://example.com/",
      secret: "whsec_MARK",
      isSecretGenerated: true,
    });
    const jobIds = [await complete({ webhook: webhook("wh_1") }), await complete({ webhook: webhook("wh_2") })];
    await store.webhooks.record("wh_1", { atMs: clock.now(), status: 204, error: null }, { state: "delivered" });
    clock.advance(8 * DAY_MS);
    expect(await retention.sweep()).toMatchObject({ webhooks: 1 });
    expect(await store.webhooks.get("wh_1")).toBeUndefined();
    expect(await store.webhooks.get("wh_2")).toMatchObject({ state: "pending" });
    expect((await store.jobs.get(jobIds[0] as string))?.webhookId).toBe("wh_1");
  });

  it("runs every hour, and leaves no timer after close()", async () => {
    const timers = clock.pendingTimers;
    retention.start();
    await until(
      async () => clock.pendingTimers,
      (count) => count > timers,
      "the next sweep is scheduled",
    );
    const jobId = await complete();
    clock.advance(11 * DAY_MS);
    await until(
      () => kept(jobId),
      ([prompt]) => prompt === undefined,
      "the input was removed",
    );
    await retention.close();
    // Timers of the store.
    expect(clock.pendingTimers).toBe(timers);
  });
});

describe("the log of the database", () => {
  it.skipIf(IS_POSTGRES)("is truncated later if a reader blocks it, without delaying writes", async () => {
    const jobId = await complete({ input: { prompt: "MARK-PROMPT" } });
    const walBytes = (): number => statSync(folder.file("atoll.db-wal")).size;
    using stack = new DisposableStack();
    const reader = stack.adopt(new Database(folder.file("atoll.db"), { readonly: true }), (db) => db.close());
    reader.exec("BEGIN");
    reader.prepare("SELECT count(*) FROM jobs").get();
    await retention.remove({ kind: "job", id: jobId });
    clock.advance(1_000);
    await store.check();
    expect(walBytes()).toBeGreaterThan(0);
    reader.exec("COMMIT");
    clock.advance(10_000);
    await until(
      async () => walBytes(),
      (bytes) => bytes === 0,
      "the log is empty",
    );
  });
});
