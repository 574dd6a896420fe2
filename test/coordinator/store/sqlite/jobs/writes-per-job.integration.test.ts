import { statSync } from "node:fs";
import { expect, it } from "vitest";
import { openSqliteStore } from "../../../../../coordinator/store/sqlite/sqlite-store.ts";
import { newId } from "../../../../../shared/ids.ts";
import { systemClock } from "../../../../../shared/clock.ts";
import { ISLAND_ID, makeAccount, makeEnding, makeJob, temporaryFolder } from "../../contract/store-builders.ts";

const FRAME_BYTES = 1_024 + 24;
const STATES = ["pending", "queued", "running", "streaming"].map((state) => ({ type: "status" as const, state }));
const TOKENS = Array.from({ length: 16 }, () => ({ type: "token" as const, content: " word", count: 1 }));

it("a chat on a free Island takes two commits and few pages", async () => {
  using folder = temporaryFolder();
  const path = folder.file("atoll.db");
  const store = await openSqliteStore({ path, clock: systemClock });
  const accountId = await makeAccount(store);
  const pages = (): number => (statSync(`${path}-wal`).size - 32) / FRAME_BYTES;
  const chat = async (): Promise<void> => {
    const nowMs = systemClock.now();
    const job = makeJob(accountId, {
      id: newId("job", nowMs),
      createdAtMs: nowMs,
      priceMicro: 10,
      assignedTo: ISLAND_ID,
      // The chat is like most chats: a key submits it, and it is paid by tokens.
      apiKey: { number: 1_000, monthly: null },
      rates: { prompt: 4_000_000, completion: 16_000_000 },
    });
    await store.jobs.submit({ ...job, jobClass: "chat", isClientBound: true });
    const lastChunk = { jobId: job.id, attempt: 1, seq: 16, items: [...STATES, ...TOKENS] };
    await store.jobs.end(makeEnding(job, { atMs: nowMs, startedAtMs: nowMs, lastChunk }));
  };
  // Runs chats until no index fits in a single page.
  for (let round = 0; round < 64; round += 1) await chat();
  const before = { commits: store.commits, pages: pages() };
  // This is twice the number of jobs that are indexed at once. Fewer jobs would not give a fair average.
  const ROUNDS = 64;
  for (let round = 0; round < ROUNDS; round += 1) await chat();
  expect((store.commits - before.commits) / ROUNDS).toBe(2);
  // A chat writes ten pages of tables and indexes, five per commit, and more where they grow. Many chats share a page
  // of a list index.
  expect((pages() - before.pages) / ROUNDS).toBeLessThan(20);
  expect((pages() - before.pages) / ROUNDS).toBeGreaterThan(5);
  await store.close();
});
