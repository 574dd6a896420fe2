import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { NewJob } from "../../../coordinator/store/jobs/job-store.ts";
import { finishedFrame, outputFrame } from "../../support/network/attempt-frames.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { withReplaced } from "../jobs/held-store.ts";
import { JobWorld } from "../jobs/job-world.ts";
import { openJobWorld, type OpenedJobWorld } from "../jobs/open-job-world.ts";
import { PlayedIsland } from "../jobs/played-island.ts";
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

describe("a job that finds a free slot while it is being stored", () => {
  it("is stored with its attempt in one commit, and is sent to its Island after that", async () => {
    const job = submit();
    await world.settle();
    expect([submitted.length, submitted[0]?.assignedTo, assigns()]).toEqual([1, island.hostId, 0]);
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

  it("releases the slot if it cannot be paid", async () => {
    const poor = await makeAccount(opened.store, { grantMicro: 1 });
    const refused = submit(poor);
    await world.settle();
    expect(submitted[0]?.assignedTo).toBe(island.hostId);
    open();
    await expect(refused).rejects.toMatchObject({ code: "insufficient_credits" });
    await submit();
    expect([submitted[1]?.assignedTo, assigns()]).toEqual([island.hostId, 1]);
    // The quota slot is released as well, because `enter` would throw otherwise.
    world.jobQuota.enter(poor, 1);
  });

  it("releases the slot if it is a repeat of another job", async () => {
    const [first, second] = [submit(undefined, "key"), submit(undefined, "key")];
    await world.settle();
    open();
    const ids = (await Promise.all([first, second])).map(({ record }) => record.id);
    expect([new Set(ids).size, assigns(), [...world.registry.list()].length]).toEqual([1, 1, 1]);
  });

  it("goes to another Island if the first reconnects without it before it is stored", async () => {
    const job = submit();
    await world.settle();
    const other = await PlayedIsland.join(world, opened.accountId);
    await island.connect();
    open();
    const { record } = await job;
    await world.settle();
    expect([assigns(), assigns(other), other.assign.attempt]).toEqual([0, 1, 2]);
    await other.say(outputFrame(other.assign, 1, "a"), finishedFrame(other.assign, 2));
    expect(await opened.store.jobs.get(record.id)).toMatchObject({ state: "completed", attempt: 2 });
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
