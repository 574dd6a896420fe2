import { expect, it } from "vitest";
import { MAX_CLOSE_MS, openParts, type Part } from "../../coordinator/parts.ts";
import { ManualClock } from "../support/manual-clock.ts";

/** Parts that record each call of `drain` and `close`. */
function notedParts(): { readonly done: string[]; readonly part: (name: string) => Part } {
  const done: string[] = [];
  return {
    done,
    part: (name) => ({
      drain: () => void done.push(`drain ${name}`),
      close: async () => void done.push(`close ${name}`),
    }),
  };
}

it("openParts() drains all parts before it closes any, the last opened first", async () => {
  const { done, part } = notedParts();
  await using parts = openParts(new ManualClock());
  parts.add(part("store"));
  parts.add(part("jobs"));
  const stop = parts.release(null);
  expect(done).toEqual([]);
  await stop();
  expect(done).toEqual(["drain jobs", "drain store", "close jobs", "close store"]);
});

it("openParts() closes what was opened when a start fails", async () => {
  const { done, part } = notedParts();
  const start = async (): Promise<void> => {
    await using parts = openParts(new ManualClock());
    parts.add(part("store"));
    throw new Error("no port");
  };
  await expect(start()).rejects.toThrow("no port");
  expect(done).toEqual(["drain store", "close store"]);
});

it("openParts() starts every close and stops waiting once the limit has passed", async () => {
  const { done, part } = notedParts();
  const clock = new ManualClock();
  await using parts = openParts(clock);
  parts.add(part("store"));
  parts.add({ close: () => new Promise(() => undefined) });
  const stopped = parts.release(MAX_CLOSE_MS)();
  await new Promise((resolve) => setImmediate(resolve));
  expect(done).toEqual(["drain store"]);
  clock.advance(MAX_CLOSE_MS);
  await stopped;
  expect(done).toEqual(["drain store", "close store"]);
});

it("openParts() signals each part when the drain limit has passed", async () => {
  const clock = new ManualClock();
  await using parts = openParts(clock);
  parts.add({ drain: (limit) => limit.within(new Promise(() => undefined)) });
  const stopped = parts.release(null)();
  clock.advance(MAX_CLOSE_MS);
  await stopped;
});

it("openParts() closes all parts although one fails, and rejects with its error", async () => {
  const { done, part } = notedParts();
  await using parts = openParts(new ManualClock());
  parts.add(part("store"));
  parts.add({
    drain: () => Promise.reject(new Error("cannot drain")),
    close: () => Promise.reject(new Error("cannot close")),
  });
  await expect(parts.release(null)()).rejects.toThrow("cannot drain");
  expect(done).toEqual(["drain store", "close store"]);
});

it("openParts() does not replace the error of a failed start", async () => {
  const start = async (): Promise<void> => {
    await using parts = openParts(new ManualClock());
    parts.add({ close: () => Promise.reject(new Error("cannot close")) });
    throw new Error("no port");
  };
  await expect(start()).rejects.toThrow("no port");
});
