import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ChecksClosed } from "../../../coordinator/checks/check-thread.ts";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import { beginFrames, finishedFrame, outputFrame } from "../../support/network/attempt-frames.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { GRACE_MS, type JobWorld } from "../jobs/job-world.ts";
import { type OpenedJobWorld, openJobWorld } from "../jobs/open-job-world.ts";
import { nameOf, PlayedIsland } from "../jobs/played-island.ts";

let opened: OpenedJobWorld;
let clock: ManualClock;
let world: JobWorld;
let accountId: string;
let island: PlayedIsland;
let release: () => void;
let stop: (error: Error) => void;

beforeEach(async () => {
  clock = new ManualClock();
  opened = await openJobWorld(clock);
  ({ world, accountId } = opened);
  world.hold = new Promise((resolve, reject) => {
    [release, stop] = [resolve, reject];
  });
  island = await PlayedIsland.join(world, accountId);
});
afterEach(() => opened.close(world));

const statusOf = async ({ jobId }: Assign): Promise<string> => (await world.jobs.get(accountId, jobId)).state;

/** Submits a job whose answer is checked. Resolves when `finished` was sent; `effect` resolves with its effect. */
async function finished(): Promise<{ readonly assign: Assign; readonly effect: Promise<void> }> {
  await world.jobs.submit({ accountId, slug: "cheap", input: { prompt: "Hi" }, priority: 0, idempotency: null });
  await world.settle();
  const { assign } = island;
  await island.say(...beginFrames(assign), outputFrame(assign, 1, "Hello"));
  const effect = island.say(finishedFrame(assign, 2, { completionTokens: 1 }));
  await world.settle();
  return { assign, effect };
}

describe("a result whose check takes time", () => {
  it("ends its job after the check, and is acknowledged then", async () => {
    const { assign, effect } = await finished();
    expect([await statusOf(assign), island.last("ack")?.seq]).toEqual(["running", 1]);
    release();
    await effect;
    expect([await statusOf(assign), island.last("ack")?.seq]).toEqual(["completed", 2]);
  });

  it("does not end a job that was cancelled before", async () => {
    const { assign, effect } = await finished();
    await world.jobs.cancel(accountId, assign.jobId);
    release();
    await effect;
    expect([await statusOf(assign), island.last("ack")?.seq]).toEqual(["cancelled", 2]);
    expect(world.islands.get(island.hostId)?.attempts()).toEqual([]);
  });

  it("excludes further frames of its attempt", async () => {
    const { assign, effect } = await finished();
    const late = [outputFrame(assign, 3, " and more"), finishedFrame(assign, 3, { completionTokens: 2 })];
    for (const frame of late) await expect(island.say(frame)).rejects.toThrow(/after finished/);
    release();
    await effect;
    expect(await statusOf(assign)).toBe("completed");
    expect(await world.jobs.get(accountId, assign.jobId)).toMatchObject({ usage: { completionTokens: 1 } });
  });

  it("counts if its Island returns during the check and sends it again", async () => {
    const { assign, effect } = await finished();
    island.lose();
    await island.comeBack(assign);
    expect(island.last("welcome")?.held).toMatchObject([{ action: "continue", ackedSeq: 1 }]);
    const repeated = island.say(finishedFrame(assign, 2, { completionTokens: 1 }));
    release();
    await Promise.all([effect, repeated]);
    await world.settle();
    expect([await statusOf(assign), island.last("ack")?.seq]).toEqual(["completed", 2]);
  });

  it("does not count if its Island stays away, and the next attempt ends the job", async () => {
    const { assign, effect } = await finished();
    const other = await PlayedIsland.join(world, accountId);
    island.lose();
    clock.advance(GRACE_MS);
    await world.settle();
    expect(other.assign).toMatchObject({ jobId: assign.jobId, attempt: assign.attempt + 1 });
    release();
    await effect;
    expect(await statusOf(assign)).toBe("queued");
    await other.say(...beginFrames(other.assign), outputFrame(other.assign, 1, " again"));
    await other.say(finishedFrame(other.assign, 2, { completionTokens: 1 }));
    expect(await statusOf(assign)).toBe("completed");
  });

  it("is not acknowledged if the coordinator stops, so that the Island sends it again", async () => {
    const { assign, effect } = await finished();
    stop(new ChecksClosed());
    await effect;
    expect([await statusOf(assign), island.last("ack")?.seq]).toEqual(["running", 1]);
    expect(world.islands.get(island.hostId)?.attempts()).toMatchObject([nameOf(assign)]);
  });
});
