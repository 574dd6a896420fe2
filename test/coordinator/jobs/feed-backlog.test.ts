import { describe, expect, it } from "vitest";
import { JobFeed } from "../../../coordinator/jobs/feed.ts";
import type { FeedItem, FeedPart } from "../../../coordinator/store/jobs/job-store.ts";

const token = (content: string): FeedItem => ({ type: "token", content, count: 2 });
const STORED: readonly FeedPart[] = [
  { attempt: 1, items: [{ type: "status", state: "running" }, token("a")] },
  { attempt: 2, items: [token("b")] },
];
const progress = {
  items: 3,
  tokens: 4,
  bytes: 100,
  largeBytes: 0,
  outputs: [
    { attempt: 1, count: 1 },
    { attempt: 2, count: 1 },
  ],
  hasOutput: true,
  hasText: true,
  hasVisible: true,
  lastSeq: 1,
};

describe("the feed of a restored job", () => {
  it("restores its progress before it is read", () => {
    const feed = JobFeed.restored("job_1", { progress, read: () => expect.fail("It was read") });
    feed.push([token("c")], 2);
    expect([feed.tokens, feed.hasOutput, feed.attemptOf(1), feed.attemptOf(3)]).toEqual([6, true, 1, 2]);
    expect(feed.hasLost({ outputs: 2, statuses: 0, attempt: 1, ended: false })).toBe(true);
    expect(() => feed.text()).toThrow("not loaded");
  });

  it("is read once for any number of readers, and continues with newer items", async () => {
    const gate = Promise.withResolvers<void>();
    let reads = 0;
    const read = async (): Promise<readonly FeedPart[]> => {
      reads += 1;
      await gate.promise;
      // Items that were stored since the restart are already in memory.
      return [...STORED, { attempt: 2, items: [token("c")] }];
    };
    const feed = JobFeed.restored("job_1", { progress, read });
    feed.push([token("c")], 2);
    const loads = [feed.load(), feed.load()];
    feed.push([token("d")], 2);
    gate.resolve();
    await Promise.all(loads);
    await feed.load();
    expect([feed.text(), feed.items.length, reads]).toEqual(["abcd", 5, 1]);
  });

  it("is read again after a failed read", async () => {
    let isBroken = true;
    const read = async (): Promise<readonly FeedPart[]> => {
      if (isBroken) throw new Error("disk");
      return STORED;
    };
    const feed = JobFeed.restored("job_1", { progress, read });
    await expect(feed.load()).rejects.toThrow("disk");
    isBroken = false;
    await feed.load();
    expect(feed.text()).toBe("ab");
  });
});
