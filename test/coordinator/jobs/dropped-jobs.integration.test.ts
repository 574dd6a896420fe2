import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JobRegistryEvent } from "../../../coordinator/jobs/job-registry-events.ts";
import { NotOwnerError } from "../../../coordinator/store/cluster-store.ts";
import { beginFrames, finishedFrame, outputFrame } from "../../support/network/attempt-frames.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { withReplaced } from "./held-store.ts";
import { GRACE_MS, JobWorld } from "./job-world.ts";
import { openJobWorld, type OpenedJobWorld } from "./open-job-world.ts";
import { PlayedIsland } from "./played-island.ts";

let opened: OpenedJobWorld;
let clock: ManualClock;
let world: JobWorld;
/** Kinds of writes that are refused because another coordinator has the job. */
let refused: ReadonlySet<string>;
let dropped: Extract<JobRegistryEvent, { type: "job_dropped" }>[];

beforeEach(async () => {
  clock = new ManualClock();
  opened = await openJobWorld(clock);
  refused = new Set();
  dropped = [];
  const { jobs } = opened.store;
  const unless = <T>(kind: string, jobId: string, write: () => Promise<T>): Promise<T> =>
    refused.has(kind) ? Promise.reject(new NotOwnerError(jobId, "b")) : write();
  const store = withReplaced(opened.store, {
    jobs: {
      move: (move) => unless(move.event, move.jobId, () => jobs.move(move)),
      appendFeed: (chunk) => unless("append", chunk.jobId, () => jobs.appendFeed(chunk)),
      end: (ending) => unless("end", ending.jobId, () => jobs.end(ending)),
    },
  });
  opened.world.close();
  world = new JobWorld(store, clock);
  world.registry.subscribe((event) => {
    if (event.type === "job_dropped") dropped.push(event);
  });
});
afterEach(() => opened.close(world));

const join = (): Promise<PlayedIsland> => PlayedIsland.join(world, opened.accountId);
async function submit(): Promise<string> {
  const request = { accountId: opened.accountId, slug: "cheap", input: { prompt: "Hi" }, priority: 0 };
  const { record } = await world.jobs.submit({ ...request, idempotency: null });
  await world.settle();
  return record.id;
}

describe("a job whose write is refused because another coordinator has it", () => {
  it.each(["append", "lose", "assign", "start", "end"])("is dropped at its %s with all its resources", async (kind) => {
    refused = new Set([kind]);
    const jobId = await submit();
    const island = await join();
    await world.settle();
    if (kind !== "assign") {
      await expect.poll(() => island.last("assign")).toBeDefined();
      const { assign } = island;
      const frames = [...beginFrames(assign), outputFrame(assign, 1, "one"), finishedFrame(assign, 2)];
      // Refused output is never acknowledged, and the Island is disconnected.
      island.say(...frames.slice(0, kind === "end" ? 4 : 3)).catch(() => undefined);
      await world.settle();
      if (kind === "lose") island.lose();
      else await expect.poll(() => dropped.length).toBe(1);
      clock.advance(GRACE_MS);
      await world.settle();
    }
    await expect
      .poll(() => dropped)
      .toMatchObject([{ job: { id: jobId, isDropped: true }, ownerId: "b", feed: { ending: null } }]);
    expect(world.registry.get(jobId)).toBeUndefined();
    expect(world.jobQuota.isFull(opened.accountId, 1)).toBe(false);
    expect(world.islands.get(island.hostId)).toBeUndefined();
    expect(island.last("ack")?.seq ?? 0).toBeLessThan(2);
    // The job leaves no pending work.
    refused = new Set();
    clock.advance(3_600_000);
    await world.settle();
    expect(dropped).toHaveLength(1);
    expect(world.fatal).toEqual([]);
  });

  it("is not cancelled, and the caller gets an error", async () => {
    refused = new Set(["end"]);
    const jobId = await submit();
    const cancelled = world.registry.cancel(jobId);
    const settled = world.registry.settled();
    await expect(cancelled).rejects.toMatchObject({ jobId });
    await settled;
    expect((await opened.store.jobs.get(jobId))?.state).toBe("pending");
  });
});
