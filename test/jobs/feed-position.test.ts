import { describe, expect, it } from "vitest";
import { FeedCursor, formatPosition, parsePosition } from "../../coordinator/jobs/feed-position.ts";
import type { FeedItem } from "../../coordinator/store/job-store.ts";

const ITEMS: FeedItem[] = [
  { type: "status", state: "pending" },
  { type: "status", state: "running" },
  { type: "token", content: "a", count: 1 },
  { type: "status", state: "streaming" },
  { type: "token", content: "b", count: 1 },
  { type: "progress", step: 1, total: 2 },
];

function takeAll(cursor: FeedCursor, items: readonly FeedItem[]): FeedItem[] {
  const taken: FeedItem[] = [];
  for (let item = cursor.take(items); item !== undefined; item = cursor.take(items)) taken.push(item);
  return taken;
}

describe("FeedCursor", () => {
  it.each(ITEMS.map((_, index) => index))("resumed after item %i gives exactly the rest", (index) => {
    const first = new FeedCursor();
    for (let i = 0; i <= index; i += 1) first.take(ITEMS);
    const resumed = new FeedCursor(parsePosition(formatPosition(first.position)));
    expect(takeAll(resumed, ITEMS)).toEqual(ITEMS.slice(index + 1));
  });

  it("neither repeats nor skips output when a status stands elsewhere after a restart", () => {
    const first = new FeedCursor();
    for (let i = 0; i < 4; i += 1) first.take(ITEMS);
    const rebuilt: FeedItem[] = [ITEMS[0], ITEMS[2], ITEMS[1], ITEMS[4], ITEMS[3], ITEMS[5]] as FeedItem[];
    const resumed = new FeedCursor(first.position);
    expect(takeAll(resumed, rebuilt)).toEqual([ITEMS[4], ITEMS[5]]);
  });

  it("goes on with items that come later", () => {
    const cursor = new FeedCursor();
    expect(takeAll(cursor, ITEMS.slice(0, 3))).toHaveLength(3);
    expect(takeAll(cursor, ITEMS)).toEqual(ITEMS.slice(3));
  });
});

describe("parsePosition()", () => {
  it.each(["", "x", "1", "1.", "1.2.3", "-1.0", "1.2.End", "99999999999.1"])("does not know %j", (id) => {
    expect(parsePosition(id)).toBeUndefined();
  });

  it("reads the last event's id", () => {
    expect(parsePosition("12.3.end")).toEqual({ outputs: 12, statuses: 3, ended: true });
  });
});
