import { expect } from "vitest";
import type { FeedChunk, FeedItem } from "../../../../coordinator/store/jobs/job-store.ts";
import { LargeJson } from "../../../../coordinator/store/jobs/large-json.ts";
import type { Store } from "../../../../coordinator/store/store.ts";
import { type Check, endUncharged, makeAccount, makeJob, runJob } from "./store-builders.ts";

/** Contains characters that JSON escapes, and characters of two UTF-16 units at the limits of pieces. */
const LARGE_TEXT = `"${"\u{1F3DD}\n".repeat(80_000)}`;
const token = (content: string, count = 1) => ({ type: "token", content, count }) as const;
const status = (state: string) => ({ type: "status", state }) as const;
const image = (data: string) => ({ type: "image", data, format: "png" }) as const;

async function jsonOf(value: unknown): Promise<unknown> {
  expect(value).toBeInstanceOf(LargeJson);
  const large = value as LargeJson;
  let text = "";
  for await (const piece of large.pieces()) text += piece;
  expect(text).toHaveLength(large.chars);
  return JSON.parse(text);
}

/** Creates a job with two attempts and everything that a feed can contain. */
async function writeFeed(store: Store): Promise<string> {
  const job = makeJob(await makeAccount(store));
  await runJob(store, job);
  const append = (attempt: number, seq: number | null, ...items: FeedChunk["items"]): Promise<void> =>
    store.jobs.appendFeed({ jobId: job.id, attempt, seq, items });
  await append(1, null, status("pending"), status("running"));
  await append(1, 1, token("Hel"), { type: "progress", step: 1, total: 2 });
  await append(1, 2, image("small"), image(LARGE_TEXT));
  await store.jobs.move({ jobId: job.id, event: "lose", attempt: 1, islandId: null, atMs: 1 });
  await store.jobs.move({ jobId: job.id, event: "assign", attempt: 2, islandId: "island", atMs: 1 });
  await store.jobs.move({ jobId: job.id, event: "start", attempt: 2, islandId: null, atMs: 1 });
  await append(2, 1, status("running"), token("lo", 3));
  return job.id;
}

async function itemsOf(store: Store, jobId: string): Promise<unknown[]> {
  const parts = await store.jobs.feed(jobId);
  const items = parts.flatMap(({ attempt, items: some }) => some.map((item) => [attempt, item] as const));
  return Promise.all(items.map(async ([attempt, item]) => [attempt, await withoutLarge(item)]));
}

async function withoutLarge(item: FeedItem): Promise<unknown> {
  if (item.type !== "image" || typeof item.data === "string") return item;
  return { ...item, data: await jsonOf(item.data), isLarge: true };
}

const WRITTEN = [
  [1, status("pending")],
  [1, status("running")],
  [1, token("Hel")],
  [1, { type: "progress", step: 1, total: 2 }],
  [1, image("small")],
  [1, { ...image(LARGE_TEXT), isLarge: true }],
  [2, status("running")],
  [2, token("lo", 3)],
];

export function describeFeeds(check: Check): void {
  check(
    "jobs.feed() returns the same items before and after the job's end, with large ones in pieces",
    async (store) => {
      const jobId = await writeFeed(store);
      expect(await itemsOf(store, jobId)).toEqual(WRITTEN);
      await endUncharged(store, jobId, { attempt: 2, event: "fail" });
      expect(await itemsOf(store, jobId)).toEqual(WRITTEN);
      expect((await store.jobs.get(jobId))?.output).toBeUndefined();
    },
  );

  check("jobs.end() keeps the order in which chunks were appended", async (store) => {
    const job = makeJob(await makeAccount(store));
    await runJob(store, job);
    await store.jobs.appendFeed({ jobId: job.id, attempt: 1, seq: 1, items: [token("a")] });
    await store.jobs.appendFeed({ jobId: job.id, attempt: 1, seq: null, items: [status("streaming")] });
    await endUncharged(store, job.id);
    expect(await itemsOf(store, job.id)).toEqual([
      [1, token("a")],
      [1, status("streaming")],
    ]);
  });

  check("jobs.feedProgress() returns counts, sizes and the last frame of the feed", async (store) => {
    const jobId = await writeFeed(store);
    const { bytes, largeBytes, ...counts } = await store.jobs.feedProgress(jobId, 2);
    const outputs = [
      { attempt: 1, count: 4 },
      { attempt: 2, count: 1 },
    ];
    const flags = { hasOutput: true, hasText: true, hasVisible: true };
    expect(counts).toEqual({ items: 8, tokens: 4, outputs, ...flags, lastSeq: 1 });
    expect(bytes).toBeLessThan(1_000);
    expect(largeBytes).toBe(JSON.stringify(LARGE_TEXT).length);
    expect((await store.jobs.feedProgress(jobId, 1)).lastSeq).toBe(2);
    const none = {
      items: 0,
      tokens: 0,
      bytes: 0,
      largeBytes: 0,
      outputs: [],
      hasOutput: false,
      hasText: false,
      hasVisible: false,
      lastSeq: 0,
    };
    expect(await store.jobs.feedProgress("job_none", 1)).toEqual(none);
  });

  check("jobs.feed() keeps tool calls, whose tokens count, and the message as the job's output", async (store) => {
    const job = makeJob(await makeAccount(store));
    await runJob(store, job);
    const begun = { type: "tool_call", index: 0, id: "call_1", name: "sum", arguments: "", count: 3 } as const;
    const rest = { type: "tool_call", index: 0, arguments: '{"a":"\u{1F3DD}"}', count: 2 } as const;
    await store.jobs.appendFeed({ jobId: job.id, attempt: 1, seq: 1, items: [begun, rest] });
    const items = [
      [1, begun],
      [1, rest],
    ];
    expect(await itemsOf(store, job.id)).toEqual(items);
    const progress = await store.jobs.feedProgress(job.id, 1);
    expect(progress).toMatchObject({ items: 2, tokens: 5, hasOutput: true, hasText: false });
    expect(progress.bytes).toBe(9 + rest.arguments.length);
    const output = { role: "assistant", content: null, tool_calls: [] };
    await endUncharged(store, job.id, { attempt: 1, output });
    expect(await itemsOf(store, job.id)).toEqual(items);
    expect((await store.jobs.get(job.id))?.output).toEqual(output);
  });

  check("jobs.storedItems() can be read once the append has resolved", async (store) => {
    const job = makeJob(await makeAccount(store));
    await runJob(store, job);
    const chunk = { jobId: job.id, attempt: 1, seq: 1, items: [token("a"), image(LARGE_TEXT)] };
    const appended = store.jobs.appendFeed(chunk);
    const [first, second] = store.jobs.storedItems(chunk, appended);
    expect(first).toEqual(token("a"));
    expect(await withoutLarge(second as FeedItem)).toEqual({ ...image(LARGE_TEXT), isLarge: true });
  });

  check("jobs.end() without an output uses the text of the feed as the output", async (store) => {
    const jobId = await writeFeed(store);
    expect(await endUncharged(store, jobId, { attempt: 2 })).toEqual({ dueWebhookIds: [] });
    expect((await store.jobs.get(jobId))?.output).toBe("Hello");
  });

  check("jobs.end() stores a large output in pieces", async (store) => {
    const jobId = await writeFeed(store);
    const output = { images: [LARGE_TEXT, LARGE_TEXT] };
    const ended = await endUncharged(store, jobId, { attempt: 2, output });
    expect(await jsonOf(ended.output)).toEqual(output);
    const read = (await store.jobs.get(jobId))?.output;
    expect(await jsonOf(read)).toEqual(output);
    expect(await (read as LargeJson).value()).toEqual(output);
    expect(await itemsOf(store, jobId)).toEqual(WRITTEN);
  });

  check("jobs.feed() returns an empty feed for an unknown job", async (store) => {
    expect(await store.jobs.feed("job_none")).toEqual([]);
  });
}
