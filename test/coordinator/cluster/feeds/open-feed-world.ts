import { afterEach, beforeEach, expect } from "vitest";
import { FeedWorld, type FeedSide } from "./feed-world.ts";
import { TestReader } from "./test-reader.ts";

/** Of the test that runs. */
export let world: FeedWorld;
/** Three coordinators; the jobs are the first one's. */
export let [owner, here, third]: FeedSide[] = [];

/** A world for each test of a file, in which nothing may be warned of and no timer is left. */
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

/** Reads `job_1` at a side, and is connected. */
export async function readAt(at: FeedSide | undefined): Promise<TestReader> {
  const reader = new TestReader();
  await reader.connect(side(at));
  await world.settle();
  return reader;
}
