import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SHORT_JOB_MS } from "../../../coordinator/jobs/job-registry.ts";
import type { JobEnding, NewJob } from "../../../coordinator/store/jobs/job-store.ts";
import { beginFrames, finishedFrame, outputFrame } from "../../support/network/attempt-frames.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { withReplaced } from "../jobs/held-store.ts";
import { JobWorld } from "../jobs/job-world.ts";
import { GRANT_MICRO, openJobWorld, type OpenedJobWorld } from "../jobs/open-job-world.ts";
import { nameOf, PlayedIsland } from "../jobs/played-island.ts";
import { balanceOf, makeAccount } from "../store/contract/store-builders.ts";

const FEED_DELAY_MS = 100;

const clock = new ManualClock();
let opened: OpenedJobWorld;
let world: JobWorld;
let island: PlayedIsland;
/** Jobs that the store was asked to store. `open` lets the writes complete. */
let submitted: NewJob[];
let open: () => void;
/** Ends that the store was asked to store. */
let ended: JobEnding[];
/** The reason why the store is read-only; null while it is writable. */
let readOnlyReason: string | null;
/** Events of jobs, in order. */
let events: string[];

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
  ended = [];
  const end: typeof opened.store.jobs.end = async (ending) => {
    ended.push(ending);
    await gate.promise;
    return opened.store.jobs.end(ending);
  };
  readOnlyReason = null;
  const store = new Proxy(withReplaced(opened.store, { jobs: { submit, end } }), {
    get: (real, key) => (key === "readOnlyReason" ? readOnlyReason : (Reflect.get(real, key) as unknown)),
  });
  world = new JobWorld(store, clock, undefined, FEED_DELAY_MS);
  events = [];
  world.registry.subscribe(({ type }) => events.push(type));
  island = await PlayedIsland.join(world, opened.accountId);
});
afterEach(async () => {
  open();
  await opened.close(world);
});

const submit = (accountId = opened.accountId, key: string | null = null, more = {}) =>
  world.jobs.submit({
    accountId,
    slug: "cheap",
    input: { prompt: "Hi", max_tokens: 10 },
    priority: 0,
    idempotency: key === null ? null : { key, bodyHash: "same" },
    ...more,
  });
/** Submits a chat whose client waits on its connection. */
const chat = (accountId = opened.accountId) => submit(accountId, null, { isClientBound: true });
/** Sends all frames of a run with one token, without waiting in between. */
const answer = (from = island) =>
  Promise.all(
    [...beginFrames(from.assign), outputFrame(from.assign, 1, "a"), finishedFrame(from.assign, 2)].map((frame) =>
      from.say(frame),
    ),
  );
const assigns = (from = island) => from.frames.filter(({ type }) => type === "assign").length;
const settleWithoutStore = () => new Promise((resolve) => setImmediate(resolve));
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

  it("shares its commit with its end, which is announced after it, and its client reads the output", async () => {
    const job = submit();
    await world.settle();
    const { assign } = island;
    const before = opened.store.commits;
    const said = answer();
    await settleWithoutStore();
    expect(island.last("ack")).toBeUndefined();
    expect(events).not.toContain("job_ended");
    open();
    const feed = await (await job).openFeed();
    await said;
    expect(opened.store.commits - before).toBe(1);
    expect(events.slice(events.indexOf("job_stored"))).toEqual(["job_stored", "job_ended"]);
    expect(island.last("ack")).toMatchObject({ ...nameOf(assign), seq: 2 });
    await settleWithoutStore();
    expect([feed.text(), feed.ending?.type]).toEqual(["a", "done"]);
    const record = await opened.store.jobs.get(assign.jobId);
    expect(record).toMatchObject({ state: "completed", attempt: 1, output: "a" });
    expect(await balanceOf(opened.store, opened.accountId)).toBeLessThan(GRANT_MICRO);
  });

  it("leaves nothing if it cannot be paid, even if its Island has finished", async () => {
    const poor = await makeAccount(opened.store, { grantMicro: 1 });
    const refused = submit(poor);
    await world.settle();
    const { assign } = island;
    const said = answer();
    open();
    await expect(refused).rejects.toMatchObject({ code: "insufficient_credits" });
    // The Island may drop the output, because it counts for nothing.
    await said;
    await world.settle();
    expect(island.last("ack")).toMatchObject({ ...nameOf(assign), seq: 2 });
    expect(events).not.toContain("job_ended");
    expect(await opened.store.jobs.get(assign.jobId)).toBeUndefined();
    expect(await balanceOf(opened.store, poor)).toBe(1);
    for (const owner of ["account", "island"] as const) {
      const id = owner === "account" ? poor : island.hostId;
      expect(world.registry.outputBudget.count(owner, id)).toBe(0);
    }
    await submit();
    expect(assigns()).toBe(2);
  });

  it("has all frames acknowledged if its attempt fails before it is refused", async () => {
    const refused = submit(await makeAccount(opened.store, { grantMicro: 1 }));
    await world.settle();
    const { assign } = island;
    const image = { type: "image", format: "png", data: "" } as const;
    const said = Promise.all([
      ...beginFrames(assign).map((frame) => island.say(frame)),
      island.say({ type: "output", ...nameOf(assign), seq: 1, items: [image] }),
      island.say(outputFrame(assign, 2, "a")),
    ]);
    open();
    await expect(refused).rejects.toMatchObject({ code: "insufficient_credits" });
    await said;
    expect(island.last("ack")).toMatchObject({ ...nameOf(assign), seq: 2 });
    expect(ended).toEqual([]);
  });

  it("is not followed by its end while the store is read-only, which would keep the end", async () => {
    readOnlyReason = "the disk is full";
    const job = submit();
    await world.settle();
    const said = answer();
    await settleWithoutStore();
    expect(ended).toEqual([]);
    open();
    await Promise.all([job, said]);
    expect(ended).toHaveLength(1);
  });

  it("leaves nothing if it repeats another job, even if its Island has finished", async () => {
    const second = await PlayedIsland.join(world, opened.accountId);
    const first = submit(undefined, "key");
    const repeat = submit(undefined, "key");
    await world.settle();
    const said = [answer(), answer(second)];
    open();
    const handles = await Promise.all([first, repeat]);
    const [id, ...ids] = new Set(handles.map(({ record }) => record.id));
    await Promise.all(said);
    expect(ids).toEqual([]);
    const feeds = await Promise.all(handles.map((handle) => handle.openFeed()));
    expect(feeds.map(({ jobId }) => jobId)).toEqual([id, id]);
    const stored = await Promise.all(
      [island, second].map(({ assign }) => opened.store.jobs.get(assign.jobId).then((record) => record?.id)),
    );
    expect(stored.filter((each) => each !== undefined)).toEqual([id]);
    expect(events.filter((type) => type === "job_ended")).toHaveLength(1);
  });

  it("keeps its run limit if its Island starts it before it is stored", async () => {
    const job = submit();
    await world.settle();
    const said = island.say(...beginFrames(island.assign), outputFrame(island.assign, 1, "a"));
    open();
    const { record } = await job;
    clock.advance(FEED_DELAY_MS);
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
    await answer(other);
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

describe("a chat that finds a free slot", () => {
  it("is stored once it has output, in one commit with the end that follows at once", async () => {
    open();
    const job = chat();
    await world.settle();
    expect([assigns(), submitted]).toEqual([1, []]);
    const before = opened.store.commits;
    const said = answer();
    const { record } = await job;
    await said;
    expect([submitted.length, opened.store.commits - before]).toEqual([1, 1]);
    expect(await opened.store.jobs.get(record.id)).toMatchObject({ state: "completed", output: "a" });
    clock.advance(SHORT_JOB_MS);
    expect(submitted).toHaveLength(1);
  });

  it("is stored once it has started, if its output does not arrive with the start", async () => {
    open();
    const job = chat();
    await world.settle();
    const { assign } = island;
    await island.say(...beginFrames(assign));
    const { record } = await job;
    expect(await opened.store.jobs.get(record.id)).toMatchObject({ islandId: island.hostId });
    await Promise.all([outputFrame(assign, 1, "a"), finishedFrame(assign, 2)].map((frame) => island.say(frame)));
    expect(await opened.store.jobs.get(record.id)).toMatchObject({ state: "completed", output: "a" });
  });

  it("is stored after two milliseconds without a start", async () => {
    open();
    const job = chat();
    await world.settle();
    clock.advance(SHORT_JOB_MS);
    const { record } = await job;
    expect(await opened.store.jobs.get(record.id)).toMatchObject({ state: "queued", islandId: island.hostId });
  });

  it("is stored with its first attempt if the Island refuses it, and competes again", async () => {
    open();
    const job = chat();
    await world.settle();
    const other = await PlayedIsland.join(world, opened.accountId);
    void island.say({ type: "refused", ...nameOf(island.assign), code: "disk_full", message: "no" });
    const { record } = await job;
    await world.settle();
    expect(submitted[0]?.assignedTo).toBe(island.hostId);
    expect(await opened.store.jobs.get(record.id)).toMatchObject({ attempt: 2, islandId: other.hostId });
  });

  it("is stored when the coordinator stops", async () => {
    open();
    const job = chat();
    await world.settle();
    world.close();
    const { record } = await job;
    expect(await opened.store.jobs.get(record.id)).toMatchObject({ state: "queued" });
  });

  it("is stored at once while the store is read-only", async () => {
    readOnlyReason = "the disk is full";
    const job = chat();
    await settleWithoutStore();
    expect(submitted).toHaveLength(1);
    open();
    await job;
  });

  it("is stored at once without a free slot", async () => {
    open();
    await submit();
    await chat();
    expect(submitted[1]?.assignedTo).toBeUndefined();
  });
});
