import { expect, it } from "vitest";
import { MAX_CLOSE_MS, Parts, type Part } from "../../coordinator/parts.ts";
import { ManualClock } from "../support/manual-clock.ts";

/** Parts that note what is done to them. */
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

it("drain all before any closes, the last one opened first", async () => {
  const { done, part } = notedParts();
  await using parts = new Parts(new ManualClock());
  parts.add(part("store"));
  parts.add(part("jobs"));
  const stop = parts.release(null);
  expect(done).toEqual([]);
  await stop();
  expect(done).toEqual(["drain jobs", "drain store", "close jobs", "close store"]);
});

it("are closed by a start that fails", async () => {
  const { done, part } = notedParts();
  const start = async (): Promise<void> => {
    await using parts = new Parts(new ManualClock());
    parts.add(part("store"));
    throw new Error("no port");
  };
  await expect(start()).rejects.toThrow("no port");
  expect(done).toEqual(["drain store", "close store"]);
});

it("are begun to be closed, and not waited for, once the limit has passed", async () => {
  const { done, part } = notedParts();
  const clock = new ManualClock();
  await using parts = new Parts(clock);
  parts.add(part("store"));
  parts.add({ close: () => new Promise(() => undefined) });
  const stopped = parts.release(MAX_CLOSE_MS)();
  await new Promise((resolve) => setImmediate(resolve));
  expect(done).toEqual(["drain store"]);
  clock.advance(MAX_CLOSE_MS);
  await stopped;
  expect(done).toEqual(["drain store", "close store"]);
});

it("have a signal that tells them when they have drained long enough", async () => {
  const clock = new ManualClock();
  await using parts = new Parts(clock);
  parts.add({ drain: (limit) => limit.within(new Promise(() => undefined)) });
  const stopped = parts.release(null)();
  clock.advance(MAX_CLOSE_MS);
  await stopped;
});

it("are all closed, although one fails, whose fault is told", async () => {
  const { done, part } = notedParts();
  await using parts = new Parts(new ManualClock());
  parts.add(part("store"));
  parts.add({
    drain: () => Promise.reject(new Error("cannot drain")),
    close: () => Promise.reject(new Error("cannot close")),
  });
  await expect(parts.release(null)()).rejects.toThrow("cannot drain");
  expect(done).toEqual(["drain store", "close store"]);
});

it("do not hide why a start failed", async () => {
  const start = async (): Promise<void> => {
    await using parts = new Parts(new ManualClock());
    parts.add({ close: () => Promise.reject(new Error("cannot close")) });
    throw new Error("no port");
  };
  await expect(start()).rejects.toThrow("no port");
});
