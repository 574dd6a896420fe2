import { beforeEach, describe, expect, it } from "vitest";
import { shareInputReads } from "../../../../coordinator/store/jobs/jobs.ts";

/** Number of inputs in each query, and functions that resolve the open queries, oldest first. */
let sizes: number[];
let replies: (() => void)[];
let readInput: ReturnType<typeof shareInputReads>;

beforeEach(() => {
  [sizes, replies] = [[], []];
  readInput = shareInputReads((ids) => {
    sizes.push(ids.length);
    const inputs = ids.filter((id) => id !== "none").map((id) => [id, JSON.stringify({ prompt: id })] as const);
    return new Promise((resolve) => replies.push(() => resolve(new Map(inputs))));
  });
});

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("shareInputReads()", () => {
  it("shares a query among the calls of one tick, and returns each its own input", async () => {
    const [first, second, none] = ["a", "b", "none"].map((id) => readInput(id));
    none?.catch(() => undefined);
    await settle();
    replies.shift()?.();
    expect(await Promise.all([first, second])).toEqual([{ prompt: "a" }, { prompt: "b" }]);
    await expect(none).rejects.toMatchObject({ code: "not_found" });
    expect(sizes).toEqual([3]);
  });

  it("waits while two queries are in progress, then shares one among up to 64 waiting calls", async () => {
    const read: Promise<unknown>[] = [];
    for (let index = 0; index < 102; index += 1) {
      read.push(readInput(`job ${index}`));
      await settle();
    }
    expect(sizes).toEqual([1, 1]);
    for (let rounds = 0; rounds < 4; rounds += 1) {
      replies.shift()?.();
      await settle();
    }
    await Promise.all(read);
    expect(sizes).toEqual([1, 1, 64, 36]);
  });
});
