import { describe, expect, it } from "vitest";
import { FeedCursor, JobFeed } from "../../../coordinator/jobs/feed.ts";
import { formatPosition, parsePosition } from "../../../coordinator/jobs/feed-position.ts";
import type { FeedItem } from "../../../coordinator/store/jobs/job-store.ts";

const token = (content: string): FeedItem => ({ type: "token", content, count: 1 });
const status = (state: string): FeedItem => ({ type: "status", state });

/** Two attempts, the second of which continues the first. */
const PARTS = [
  { attempt: 1, items: [status("pending"), status("running"), token("a"), status("streaming"), token("b")] },
  { attempt: 2, items: [status("pending"), status("running"), token("c"), { type: "progress", step: 1, total: 2 }] },
] as const;
const ITEMS: readonly FeedItem[] = PARTS.flatMap(({ items }) => items);
const DONE = {
  type: "done",
  usage: { promptTokens: 1, completionTokens: 1 },
  finishReason: "stop",
  creditsUsedMicro: 0,
  output: undefined,
} as const;

function takeAll(cursor: FeedCursor): FeedItem[] {
  const taken: FeedItem[] = [];
  for (let item = cursor.take(); item !== undefined; item = cursor.take()) taken.push(item);
  return taken;
}

describe("FeedCursor", () => {
  it.each(ITEMS.map((_, index) => index))("returns exactly the rest when resumed after item %i", (index) => {
    const feed = new JobFeed("job_1", PARTS, DONE);
    const first = new FeedCursor(feed);
    for (let i = 0; i <= index; i += 1) first.take();
    const resumed = new FeedCursor(feed, parsePosition(formatPosition(first.position)));
    expect(resumed.isLost).toBe(false);
    expect(takeAll(resumed)).toEqual(ITEMS.slice(index + 1));
  });

  it("neither repeats nor skips output if a status is between other outputs after a restart", () => {
    const items = [status("pending"), token("a"), status("running"), token("b"), token("c")];
    const first = new FeedCursor(new JobFeed("job_1", [{ attempt: 1, items }]));
    for (let i = 0; i < 4; i += 1) first.take();
    const rebuilt = [token("a"), token("b"), status("pending"), token("c"), status("running")];
    const resumed = new FeedCursor(new JobFeed("job_1", [{ attempt: 1, items: rebuilt }]), first.position);
    expect(takeAll(resumed)).toEqual([token("c")]);
  });

  it("continues with items that are added later", () => {
    const feed = new JobFeed("job_1");
    const cursor = new FeedCursor(feed);
    feed.push(ITEMS.slice(0, 3));
    expect(takeAll(cursor)).toHaveLength(3);
    feed.push(ITEMS.slice(3));
    expect(takeAll(cursor)).toEqual(ITEMS.slice(3));
  });

  it("never returns a position before the one from which it was resumed", () => {
    const feed = new JobFeed("job_1", [{ attempt: 1, items: [status("pending"), token("a")] }]);
    const cursor = new FeedCursor(feed, parsePosition("3.2"));
    expect(cursor.take()).toBeUndefined();
    feed.push([status("running"), status("streaming")]);
    expect([cursor.take(), formatPosition(cursor.position)]).toEqual([status("streaming"), "3.3"]);
    feed.push([token("b"), token("c"), token("d")]);
    expect([cursor.take(), formatPosition(cursor.position)]).toEqual([token("d"), "4.3"]);
  });
});

describe("FeedCursor.isLost", () => {
  const at = (id: string, feed: JobFeed): boolean => new FeedCursor(feed, parsePosition(id)).isLost;

  it("is false while the attempt that made the output may still resend it", () => {
    const feed = new JobFeed("job_1", [{ attempt: 1, items: [token("a")] }]);
    const cursor = new FeedCursor(feed, parsePosition("3.0"));
    expect([cursor.isLost, at("1.0", feed)]).toEqual([false, false]);
    feed.push([token("b"), token("c"), token("d")], 1);
    expect([cursor.isLost, takeAll(cursor)]).toEqual([false, [token("d")]]);
    feed.end(DONE);
    expect(at("4.0", feed)).toBe(false);
  });

  it("becomes true with the first output of a later attempt, only for readers whose output is missing", () => {
    const feed = new JobFeed("job_1", [{ attempt: 1, items: [token("a")] }]);
    const cursor = new FeedCursor(feed, parsePosition("3.0"));
    feed.push([status("pending"), token("x"), token("y"), token("z")], 2);
    expect(cursor.isLost).toBe(true);
    expect(["1.0", "2.0", "2.1.2", "4.1.2", "5.1.2"].map((id) => at(id, feed))).toEqual([
      false,
      true,
      false,
      false,
      false,
    ]);
    feed.push([token("!")], 4);
    expect(["4.1.2", "5.1.2", "5.1.3", "5.1.4"].map((id) => at(id, feed))).toEqual([false, true, true, false]);
  });

  it("is true if another attempt made the output that the reader has", () => {
    const feed = new JobFeed("job_1", [{ attempt: 1, items: [token("a"), token("b")] }]);
    expect(["1.0", "1.0.2", "2.0.2", "3.0.2", "0.1.2"].map((id) => at(id, feed))).toEqual([
      false,
      true,
      true,
      false,
      false,
    ]);
  });

  it("is true if the job has ended with less output than the reader received", () => {
    const feed = new JobFeed("job_1", [{ attempt: 1, items: [token("a")] }]);
    expect(at("2.0", feed)).toBe(false);
    feed.end(DONE);
    expect(["1.0", "2.0", "2.0.2"].map((id) => at(id, feed))).toEqual([false, true, true]);
  });
});

describe("parsePosition()", () => {
  it.each(["", "x", "1", "1.", "1.2.3.4", "1.2.", "-1.0", "1.2.End", "99999999999.1"])(
    "returns undefined for %j",
    (id) => {
      expect(parsePosition(id)).toBeUndefined();
    },
  );

  it("parses the result of formatPosition(), which omits the first attempt", () => {
    const positions = ["12.3", "12.3.2", "12.3.end", "12.3.2.end"];
    expect(positions.map(parsePosition)).toEqual([
      { outputs: 12, statuses: 3, attempt: 1, ended: false },
      { outputs: 12, statuses: 3, attempt: 2, ended: false },
      { outputs: 12, statuses: 3, attempt: 1, ended: true },
      { outputs: 12, statuses: 3, attempt: 2, ended: true },
    ]);
    for (const id of positions) expect(formatPosition(parsePosition(id) ?? expect.fail(id))).toBe(id);
  });
});
