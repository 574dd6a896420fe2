import { afterEach, beforeEach, expect } from "vitest";
import { FeedWorld, type FeedSide } from "./feed-world.ts";
import { TestReader } from "./test-reader.ts";

/** World of the current test. */
export let world: FeedWorld;
/** Three coordinators, of which the first one owns the jobs. */
export let [owner, here, third]: FeedSide[] = [];

/** Opens a world for each test of a file. The test must not log warnings or leave timers. */
export function openForEachTest(): void {
  beforeEach(() => {
    world = new FeedWorld();
    [owner, here, third] = [world.side(), world.side(), world.side()];
  });
  afterEach(() => {
    expect(world.sides.flatMap(({ warnings }) => warnings)).toEqual([]);
    world.close();
    expect(world.clock.pendingTimers).toBe(0);
  });
}

export const side = (one: FeedSide | undefined): FeedSide => one ?? expect.fail("There is no such side");

/** Connects a reader of `job_1` at a side. */
export async function readAt(at: FeedSide | undefined): Promise<TestReader> {
  const reader = new TestReader();
  await reader.connect(side(at));
  await world.settle();
  return reader;
}
