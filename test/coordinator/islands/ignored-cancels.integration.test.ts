import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import { beginFrames, runFrames } from "../../support/network/attempt-frames.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { FIRST_PAUSE_MS, type JobWorld, PHASE_LIMITS } from "../jobs/job-world.ts";
import { openJobWorld, type OpenedJobWorld } from "../jobs/open-job-world.ts";
import { nameOf, PlayedIsland } from "../jobs/played-island.ts";

const MAX_STOP_MS = 10_000;

let opened: OpenedJobWorld;
let clock: ManualClock;
let world: JobWorld;
let accountId: string;

beforeEach(async () => {
  clock = new ManualClock();
  opened = await openJobWorld(clock);
  ({ world, accountId } = opened);
});
afterEach(() => opened.close(world));

/** Submits a job that `island` has started. */
async function begin(island: PlayedIsland): Promise<Assign> {
  await submit();
  await island.say(...beginFrames(island.assign));
  return island.assign;
}

async function submit(): Promise<string> {
  const request = { accountId, slug: "cheap", input: { prompt: "Hi" }, priority: 0, idempotency: null };
  const { record } = await world.jobs.submit(request);
  await world.settle();
  return record.id;
}

async function cancel({ jobId }: Assign): Promise<void> {
  expect(await world.jobs.cancel(accountId, jobId)).toBe("cancelled");
}

const confirm = (assign: Assign) => ({ type: "cancelled" as const, ...nameOf(assign), seq: 1 });
const stateOf = async (jobId: string) => (await world.jobs.get(accountId, jobId)).state;
const assigns = ({ frames }: PlayedIsland) => frames.filter(({ type }) => type === "assign").length;

describe("an Island that ignores a cancel", () => {
  it("does not get the slot back until it confirms, even though the job has ended", async () => {
    const island = await PlayedIsland.join(world, accountId, { slots: 1 });
    const first = await begin(island);
    await cancel(first);
    const next = await submit();
    clock.advance(10 * MAX_STOP_MS);
    await world.settle();
    expect([await stateOf(next), assigns(island), island.isOpen]).toEqual(["pending", 1, true]);
    await island.say(confirm(first));
    await world.settle();
    expect([await stateOf(next), assigns(island)]).toEqual(["queued", 2]);
  });

  it("is dismissed after three, and continues the job that was not cancelled when it returns", async () => {
    const island = await PlayedIsland.join(world, accountId, { slots: 4 });
    const kept = await begin(island);
    const [first, second, third] = [await begin(island), await begin(island), await begin(island)];
    for (const assign of [first, second, third]) await cancel(assign);
    clock.advance(MAX_STOP_MS - 1);
    expect(island.dismissals).toEqual([]);
    clock.advance(1);
    expect(island.dismissals).toEqual([["3 jobs did not stop within 10 s of their cancellation", 0]]);
    await island.comeBack(kept, first);
    expect(island.last("welcome")?.held.map(({ action }) => action)).toEqual(["continue", "drop"]);
    await island.say(...runFrames(kept, "done").slice(2));
    expect(await stateOf(kept.jobId)).toBe("completed");
  });

  it("stays connected if it confirms each cancel late", async () => {
    const island = await PlayedIsland.join(world, accountId, { slots: 1 });
    for (let round = 0; round < 5; round += 1) {
      const assign = await begin(island);
      await cancel(assign);
      clock.advance(MAX_STOP_MS + 1);
      await island.say(confirm(assign));
    }
    expect(island.dismissals).toEqual([]);
  });
});

describe("an Island that gets the same job again", () => {
  it("keeps all its slots, even if it never confirms the end of its earlier attempt", async () => {
    const island = await PlayedIsland.join(world, accountId, { slots: 2 });
    await submit();
    const first = island.assign;
    clock.advance(PHASE_LIMITS.accept);
    await world.settle();
    // The time for which an Island is avoided after a failed job ends.
    clock.advance(2 * FIRST_PAUSE_MS);
    await world.settle();
    expect(island.assign).toMatchObject({ jobId: first.jobId, attempt: 2 });
    const second = await submit();
    // The new attempt is a probe, so no other job is assigned before it has succeeded.
    expect(assigns(island)).toBe(2);
    await island.say(...runFrames(island.assign, "done"));
    await world.settle();
    expect([await stateOf(first.jobId), await stateOf(second), assigns(island)]).toEqual(["completed", "queued", 3]);
    await submit();
    await submit();
    expect(assigns(island)).toBe(4);
  });
});
