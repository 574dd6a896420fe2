import { rm } from "node:fs/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openStore } from "../../../coordinator/store/open-store.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import { makeFastDirectory } from "../../support/fast-directory.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { makeAccount } from "../store/contract/store-builders.ts";
import { withReplaced } from "./held-store.ts";
import { JobWorld } from "./job-world.ts";
import { ScriptedAgent } from "./scripted-agent.ts";

let directory: string;
let store: Store;
const clock = new ManualClock();

beforeEach(async () => {
  directory = await makeFastDirectory("atoll-restored-");
  store = await openStore(directory, clock);
});
afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true, force: true });
});

it("a job with output is restored without reading its feed, which is read once for its readers", async () => {
  const accountId = await makeAccount(store);
  const before = new JobWorld(store, clock);
  const agent = new ScriptedAgent(before, accountId);
  await agent.connect(true);
  const input = { prompt: "Hi", max_tokens: 10 };
  const job = await before.jobs.submit({ accountId, slug: "free", priority: 0, idempotency: null, input });
  await agent.act("start", 0);
  await agent.act("output", 0);
  before.close();

  const reads: string[] = [];
  const counted = withReplaced(store, {
    jobs: {
      feed: (jobId) => {
        reads.push(jobId);
        return store.jobs.feed(jobId);
      },
    },
  });
  const after = new JobWorld(counted, clock);
  for (const record of await store.jobs.unfinished()) await after.registry.restore(record, accountId);
  const restored = after.registry.get(job.record.id);
  expect(restored).toMatchObject({ state: "running", lastSeq: 1, durableSeq: 1, traits: { maxTokens: 10 } });
  expect([restored?.feed.tokens, restored?.feed.hasOutput]).toEqual([3, true]);
  expect(reads).toEqual([]);
  const feeds = await Promise.all([1, 2].map(() => after.jobs.openFeed(accountId, job.record.id)));
  expect(feeds.map((feed) => feed.text())).toEqual(["abc", "abc"]);
  expect(reads).toEqual([job.record.id]);
  after.close();
});
