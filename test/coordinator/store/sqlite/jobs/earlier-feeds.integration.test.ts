import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { LargeJson } from "../../../../../coordinator/store/jobs/large-json.ts";
import { openSqliteStore } from "../../../../../coordinator/store/sqlite/sqlite-store.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";
import { endUncharged, makeAccount, makeJob, runJob, temporaryFolder } from "../../contract/store-builders.ts";

it("a feed with a large image inside its chunks, as earlier versions wrote it, is read and folded", async () => {
  using folder = temporaryFolder();
  const path = folder.file("atoll.db");
  const store = await openSqliteStore({ path, clock: new ManualClock() });
  const [ended, running] = [makeJob(await makeAccount(store)), makeJob(await makeAccount(store))];
  await runJob(store, ended);
  await runJob(store, running);
  const image = { type: "image", data: "A".repeat(100_000), format: "png" } as const;
  const db = new Database(path);
  const insert = db.prepare("INSERT INTO feed_chunks (job_id, attempt, seq, items) VALUES (?, 1, 1, ?)");
  for (const { id } of [ended, running]) insert.run(id, JSON.stringify([image]));
  db.prepare("UPDATE jobs SET state = 'failed', completed_at_ms = 1 WHERE id = ?").run(ended.id);

  expect(await store.jobs.feed(ended.id)).toEqual([{ attempt: 1, items: [image] }]);
  expect(await store.jobs.feedProgress(running.id, 1)).toMatchObject({ items: 1, tokens: 0, lastSeq: 1 });
  await endUncharged(store, running.id, { event: "fail" });
  const item = (await store.jobs.feed(running.id))[0]?.items[0];
  expect(item).toMatchObject({ type: "image", data: expect.any(LargeJson) });
  expect(await (item as { data: LargeJson }).data.value()).toBe(image.data);
  const left = db.prepare("SELECT count(*) FROM feed_chunks WHERE job_id = ?").pluck().get(running.id);
  expect(left).toBe(0);
  db.close();
  await store.close();
});
