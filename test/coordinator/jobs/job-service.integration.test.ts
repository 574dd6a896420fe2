import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JobHandle } from "../../../coordinator/jobs/submitted-job.ts";
import type { JobStore } from "../../../coordinator/store/jobs/jobs.ts";
import { openSqliteStore, type SqliteStore } from "../../../coordinator/store/sqlite/sqlite-store.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { makeAccount, temporaryFolder } from "../store/contract/store-builders.ts";
import { withReplaced } from "./held-store.ts";
import { JobWorld, PHASE_LIMITS } from "./job-world.ts";
import { ScriptedAgent } from "./scripted-agent.ts";

let folder: ReturnType<typeof temporaryFolder>;
let store: SqliteStore;
let clock: ManualClock;
let world: JobWorld;
let accountId: string;
/** Accounts whose submissions are stored but resolve only after `open`. */
let held: Set<string>;
let open: () => void;

beforeEach(async () => {
  folder = temporaryFolder();
  clock = new ManualClock();
  store = await openSqliteStore({ path: folder.file("atoll.db"), clock });
  accountId = await makeAccount(store, { grantMicro: 1_000_000_000 });
  held = new Set();
  const gate = Promise.withResolvers<void>();
  open = gate.resolve;
  const submit: JobStore["submit"] = async (job) => {
    const outcome = await store.jobs.submit(job);
    if (held.has(job.accountId)) await gate.promise;
    return outcome;
  };
  world = new JobWorld(withReplaced(store, { jobs: { submit } }), clock);
});
afterEach(async () => {
  open();
  await world.settle();
  expect(world.fatal).toEqual([]);
  world.close();
  await store.close();
  folder[Symbol.dispose]();
});

const submit = (account = accountId, more: { waitLimitMs?: number } = {}): Promise<JobHandle> =>
  world.jobs.submit({
    accountId: account,
    slug: "cheap",
    input: { prompt: "Hi" },
    priority: 0,
    idempotency: null,
    ...more,
  });

describe("JobService", () => {
  it("returns an ended job at once while a submission of another account hangs in the store", async () => {
    const ended = await submit();
    await ended.cancel();
    const other = await makeAccount(store, { grantMicro: 1_000_000_000 });
    held.add(other);
    const hanging = submit(other);
    await world.settle();
    const feed = await Promise.race([ended.openFeed(), world.settle()]);
    expect(feed?.ending).toMatchObject({ type: "error", code: "cancelled" });
    open();
    await hanging;
  });

  it("waits for the submission of the requested job", async () => {
    held.add(accountId);
    const submitted = submit();
    await world.settle();
    const { jobs } = await world.jobs.list(accountId, { limit: 1, offset: 0 }, {});
    const opened = world.jobs.openFeed(accountId, jobs[0]?.id ?? "");
    expect(await Promise.race([opened, world.settle()])).toBeUndefined();
    open();
    expect(await opened).toBe(await (await submitted).openFeed());
  });

  it("includes the reason for the wait in the ending of a job that no Island started", async () => {
    const job = await submit(accountId, { waitLimitMs: 60_000 });
    clock.advance(60_000);
    await world.settle();
    const message = "No Island began the job within its wait limit: no Island is online";
    expect((await job.openFeed()).ending).toEqual({ type: "error", code: "wait_timeout", message, retryable: true });
    expect(await world.jobs.get(accountId, job.record.id)).toMatchObject({ state: "timeout", error: { message } });
  });

  it("includes the reason for a job that an Island has and did not start", async () => {
    const agent = new ScriptedAgent(world, accountId);
    await agent.connect(false);
    const job = await submit(accountId, { waitLimitMs: PHASE_LIMITS.accept - 1 });
    clock.advance(PHASE_LIMITS.accept - 1);
    await world.settle();
    const { ending } = await job.openFeed();
    expect(ending).toMatchObject({ code: "wait_timeout", message: expect.stringMatching(/: an Island was offered/) });
  });
});
