import { expect, it } from "vitest";
import { mapWithConcurrency } from "../../../../coordinator/http/streaming/map-with-concurrency.ts";
import { RateLimitedError } from "../../../../shared/errors.ts";

const NEVER = new AbortController().signal;
const ticks = async (count: number): Promise<void> => {
  for (let tick = 0; tick < count; tick++) await Promise.resolve();
};

it("mapWithConcurrency() gives the results in the order of the values, and has no more under way than it may", async () => {
  let [now, most] = [0, 0];
  const doubled = await mapWithConcurrency([5, 1, 4, 2, 3], 2, NEVER, async (value) => {
    most = Math.max(most, ++now);
    await ticks(value);
    now -= 1;
    return value * 2;
  });
  expect([doubled, most]).toEqual([[10, 2, 8, 4, 6], 2]);
});

it("mapWithConcurrency() ends the others at the first failure, begins nothing more and waits for their end", async () => {
  const [begun, ended]: [number[], number[]] = [[], []];
  const work = async (value: number, _index: number, gone: AbortSignal): Promise<number | null> => {
    begun.push(value);
    if (value === 1) throw new Error("first");
    await new Promise((resolve) => gone.addEventListener("abort", resolve));
    ended.push(value);
    return null;
  };
  await expect(mapWithConcurrency([0, 1, 2], 2, NEVER, work)).rejects.toThrow("first");
  expect([begun, ended]).toEqual([[0, 1], [0]]);
});

it("mapWithConcurrency() gives null when nobody waits any more", async () => {
  const gone = new AbortController();
  const work = async (value: number): Promise<number> => {
    gone.abort();
    return value;
  };
  expect(await mapWithConcurrency([0, 1], 1, gone.signal, work)).toBeNull();
});

it("mapWithConcurrency() goes on with fewer at once where an account may have no more jobs", async () => {
  let now = 0;
  const work = async (value: number): Promise<number> => {
    if (now === 2) throw new RateLimitedError("concurrent_jobs", 1);
    now += 1;
    await ticks(3);
    now -= 1;
    return value;
  };
  expect(await mapWithConcurrency([1, 2, 3, 4, 5], 4, NEVER, work)).toEqual([1, 2, 3, 4, 5]);
  await expect(
    mapWithConcurrency([1], 4, NEVER, () => Promise.reject(new RateLimitedError("concurrent_jobs", 1))),
  ).rejects.toThrow("concurrent_jobs");
});
