import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SubmittedBatch } from "../../../coordinator/jobs/batches/batch-service.ts";
import type { BatchStore } from "../../../coordinator/store/jobs/batches.ts";
import type { JobStore } from "../../../coordinator/store/jobs/jobs.ts";
import { openSqliteStore, type SqliteStore } from "../../../coordinator/store/sqlite/sqlite-store.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { makeAccount, temporaryFolder } from "../store/contract/store-builders.ts";
import { withReplaced } from "./held-store.ts";
import { JobWorld } from "./job-world.ts";
import { inputTexts } from "../../support/input-texts.ts";

let folder: ReturnType<typeof temporaryFolder>;
let store: SqliteStore;
let clock: ManualClock;
let world: JobWorld;
let accountId: string;
/** Releases the result of a submission that is stored. */
let open: () => void;
let opened: Promise<void>;

beforeEach(async () => {
  folder = temporaryFolder();
  clock = new ManualClock();
  store = await openSqliteStore({ path: folder.file("atoll.db"), clock });
  accountId = await makeAccount(store, { grantMicro: 1_000_000_000 });
  ({ promise: opened, resolve: open } = Promise.withResolvers<void>());
  const submit: JobStore["submit"] = async (job) => {
    const outcome = await store.jobs.submit(job);
    await opened;
    return outcome;
  };
  const submitBatch: BatchStore["submit"] = async (batch) => {
    const outcome = await store.batches.submit(batch);
    await opened;
    return outcome;
  };
  world = new JobWorld(withReplaced(store, { jobs: { submit }, batches: { submit: submitBatch } }), clock);
});
afterEach(async () => {
  open();
  await world.settle();
  world.close();
  await store.close();
  folder[Symbol.dispose]();
});

const request = () => ({ accountId, slug: "cheap", priority: 0, idempotency: null });

describe("a batch whose commit is in flight", () => {
  it("is cancelled once its jobs are registered, and not refused as ended", async () => {
    const submitted: Promise<SubmittedBatch> = world.batches.submit({
      ...request(),
      inputs: inputTexts([{ prompt: "one" }, { prompt: "two" }]),
      failMode: "best_effort",
    });
    await world.settle();
    const { jobs } = await store.jobs.list(accountId, { limit: 1, offset: 0 }, {});
    const cancelled = world.batches.cancel(accountId, jobs[0]?.batchId ?? "");
    expect(await Promise.race([cancelled, world.settle()])).toBeUndefined();
    open();
    expect((await submitted).jobs).toHaveLength(2);
    expect((await cancelled).jobs.map(({ state }) => state)).toEqual(["cancelled", "cancelled"]);
    expect(world.fatal).toEqual([]);
  });
});

describe("a submission that completes after the registry was closed", () => {
  it("sets no timer, as the job is restored at the next start", async () => {
    const before = clock.pendingTimers;
    const submitted = world.jobs.submit({ ...request(), input: { prompt: "Hi" } });
    await world.settle();
    world.close();
    open();
    await submitted;
    expect(clock.pendingTimers).toBe(before);
  });
});
