import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { NewJob } from "../../../coordinator/store/jobs/job-store.ts";
import { beginFrames, finishedFrame, outputFrame } from "../../support/network/attempt-frames.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { withReplaced } from "../jobs/held-store.ts";
import { JobWorld } from "../jobs/job-world.ts";
import { openJobWorld, type OpenedJobWorld } from "../jobs/open-job-world.ts";
import { nameOf, PlayedIsland } from "../jobs/played-island.ts";
import { makeAccount } from "../store/contract/store-builders.ts";

const clock = new ManualClock();
let opened: OpenedJobWorld;
let world: JobWorld;
let island: PlayedIsland;
/** Jobs that the store was asked to store. `open` lets the writes complete. */
let submitted: NewJob[];
let open: () => void;

beforeEach(async () => {
  opened = await openJobWorld(clock);
  submitted = [];
  const gate = Promise.withResolvers<void>();
  open = gate.resolve;
  const submit: typeof opened.store.jobs.submit = async (job) => {
    submitted.push(job);
    await gate.promise;
    return opened.store.jobs.submit(job);
  };
  world = new JobWorld(withReplaced(opened.store, { jobs: { submit } }), clock);
  island = await PlayedIsland.join(world, opened.accountId);
});
afterEach(async () => {
  open();
  await opened.close(world);
});

const submit = (accountId = opened.accountId, key: string | null = null) =>
  world.jobs.submit({
    accountId,
    slug: "cheap",
    input: { prompt: "Hi", max_tokens: 10 },
    priority: 0,
    idempotency: key === null ? null : { key, bodyHash: "same" },
  });
const assigns = (from = island) => from.frames.filter(({ type }) => type === "assign").length;
const cancelledFrame = () => ({ type: "cancelled", ...nameOf(island.assign), seq: 1 }) as const;

describe("a job that finds a free slot while it is being stored", () => {
  it("is sent to its Island at once, and is stored with its attempt in one commit", async () => {
    const job = submit();
    await world.settle();
    expect([submitted.length, submitted[0]?.assignedTo, assigns()]).toEqual([1, island.hostId, 1]);
    const before = opened.store.commits;
    open();
    const { record } = await job;
    expect([opened.store.commits - before, assigns()]).toEqual([1, 1]);
    expect(await opened.store.jobs.get(record.id)).toMatchObject({
      state: "queued",
      attempt: 1,
      islandId: island.hostId,
    });
  });

  it("has no output and no end before it is stored, even if its Island has finished", async () => {
    const job = submit();
    await world.settle();
    const { assign } = island;
    const said = island.say(...beginFrames(assign), outputFrame(assign, 1, "a"), finishedFrame(assign, 2));
    await world.settle();
    const active = world.registry.get(assign.jobId);
    expect([active?.state, active?.feed.hasOutput]).toEqual(["running", false]);
    open();
    await Promise.all([job, said]);
    const record = await opened.store.jobs.get(assign.jobId);
    expect(record).toMatchObject({ state: "completed", attempt: 1, output: "a" });
  });

  it("keeps its run limit if its Island starts it before it is stored", async () => {
    const job = submit();
    await world.settle();
    const said = island.say(...beginFrames(island.assign), outputFrame(island.assign, 1, "a"));
    open();
    const { record } = await job;
    await said;
    for (let work = 1; world.registry.get(record.id)?.hasEnded === false; work += 1) {
      world.registry.noteWork(record.id, work);
      clock.advance(10_000);
      await world.settle();
    }
    expect(await opened.store.jobs.get(record.id)).toMatchObject({ state: "timeout", error: { code: "run_timeout" } });
  });

  it("competes again once it is stored if its Island refuses it before", async () => {
    const job = submit();
    await world.settle();
    const { assign } = island;
    const other = await PlayedIsland.join(world, opened.accountId);
    void island.say({ type: "refused", ...nameOf(assign), code: "disk_full", message: "no" });
    expect(assigns(other)).toBe(0);
    open();
    const { record } = await job;
    await world.settle();
    expect(await opened.store.jobs.get(record.id)).toMatchObject({ attempt: 2, islandId: other.hostId });
  });

  it("is assigned in a separate commit if a slot is free only after it was stored", async () => {
    const first = submit();
    const second = submit();
    await world.settle();
    expect(submitted.map(({ assignedTo }) => assignedTo)).toEqual([island.hostId, undefined]);
    const other = await PlayedIsland.join(world, opened.accountId);
    open();
    const { record } = await second;
    await first;
    await world.settle();
    expect(await opened.store.jobs.get(record.id)).toMatchObject({ state: "queued", islandId: other.hostId });
  });

  it("is cancelled at its Island if it cannot be paid, and the slot is free once the Island confirms", async () => {
    const poor = await makeAccount(opened.store, { grantMicro: 1 });
    const refused = submit(poor);
    await world.settle();
    expect(submitted[0]?.assignedTo).toBe(island.hostId);
    const { assign } = island;
    const said = island.say(...beginFrames(assign), outputFrame(assign, 1, "a"));
    open();
    await expect(refused).rejects.toMatchObject({ code: "insufficient_credits" });
    // The Island may drop the output, because it counts for nothing.
    await said;
    expect(island.last("cancel")).toMatchObject(nameOf(assign));
    await submit();
    expect(submitted[1]?.assignedTo).toBeUndefined();
    await island.say({ ...cancelledFrame(), seq: 2 });
    await world.settle();
    expect(assigns()).toBe(2);
    expect(await opened.store.jobs.get(assign.jobId)).toBeUndefined();
    // The quota slot is released as well, because `enter` would throw otherwise.
    world.jobQuota.enter(poor, 1);
  });

  it("is cancelled at its Island if it is a repeat of another job", async () => {
    const second = await PlayedIsland.join(world, opened.accountId);
    const jobs = [submit(undefined, "key"), submit(undefined, "key")];
    await world.settle();
    expect([assigns(), assigns(second)]).toEqual([1, 1]);
    open();
    const [id, ...ids] = new Set((await Promise.all(jobs)).map(({ record }) => record.id));
    expect(ids).toEqual([]);
    const cancelled = [island, second].flatMap((each) => each.last("cancel")?.jobId ?? []);
    expect(cancelled).toHaveLength(1);
    expect([...world.registry.list()].map((job) => job.id)).toEqual([id]);
  });

  it("does not count against its Island if it could not be stored", async () => {
    const poor = await makeAccount(opened.store, { grantMicro: 1 });
    open();
    for (let nth = 0; nth < 10; nth += 1) {
      await expect(submit(poor)).rejects.toMatchObject({ code: "insufficient_credits" });
      await island.say(cancelledFrame());
    }
    await submit();
    expect([assigns(), island.dismissals]).toEqual([11, []]);
  });

  it("goes to another Island if the first reconnects without it before it is stored", async () => {
    const job = submit();
    await world.settle();
    const other = await PlayedIsland.join(world, opened.accountId);
    await island.connect();
    open();
    const { record } = await job;
    await world.settle();
    expect([assigns(), assigns(other), other.assign.attempt]).toEqual([1, 1, 2]);
    await other.say(outputFrame(other.assign, 1, "a"), finishedFrame(other.assign, 2));
    expect(await opened.store.jobs.get(record.id)).toMatchObject({ state: "completed", attempt: 2 });
  });

  it("is dropped by its Island if the coordinator dies before it is stored", async () => {
    const lost = submit().catch(() => undefined);
    await world.settle();
    const { assign, hostId } = island;
    const said = island.say(...beginFrames(assign), outputFrame(assign, 1, "a"), finishedFrame(assign, 2));
    const { secret } = world;
    world.close();
    world = new JobWorld(opened.store, clock, secret);
    await world.recover();
    const returned = await PlayedIsland.rejoin(world, opened.accountId, hostId, assign);
    expect(returned.last("welcome")?.held).toMatchObject([{ jobId: assign.jobId, action: "drop" }]);
    await submit();
    expect([assigns(returned), await opened.store.jobs.get(assign.jobId)]).toEqual([1, undefined]);
    expect(await opened.store.ledger.verify()).toMatchObject({ sumMicro: 0, wrongBalances: [], wrongHolds: [] });
    void Promise.all([lost, said]);
  });

  it("is not visible before it is stored", async () => {
    const job = submit();
    await world.settle();
    expect([...world.registry.list()]).toEqual([]);
    await world.registry.cancelAll(opened.accountId);
    open();
    await job;
    expect([...world.registry.list()].map(({ state }) => state)).toEqual(["queued"]);
  });
});
