import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Feed } from "../../../coordinator/jobs/feed.ts";
import type { JobStore } from "../../../coordinator/store/jobs/jobs.ts";
import { openSqliteStore, type SqliteStore } from "../../../coordinator/store/sqlite/sqlite-store.ts";
import { makeAccount, temporaryFolder } from "../store/contract/store-builders.ts";
import { withReplaced } from "../jobs/held-store.ts";
import { JobWorld } from "../jobs/job-world.ts";
import { ScriptedAgent } from "../jobs/scripted-agent.ts";
import { ManualClock } from "../../support/manual-clock.ts";

let folder: ReturnType<typeof temporaryFolder>;
let store: SqliteStore;
let world: JobWorld;
let agent: ScriptedAgent;
let accountId: string;
/** Lets assignments become durable. */
let open: () => void;

beforeEach(async () => {
  folder = temporaryFolder();
  const clock = new ManualClock();
  store = await openSqliteStore({ path: folder.file("atoll.db"), clock });
  accountId = await makeAccount(store, { grantMicro: 1_000_000_000 });
  const gate = Promise.withResolvers<void>();
  open = gate.resolve;
  world = new JobWorld(heldStore(store, gate.promise), clock);
  agent = new ScriptedAgent(world, accountId);
});
afterEach(async () => {
  open();
  await world.settle();
  expect(world.fatal).toEqual([]);
  world.close();
  await store.close();
  folder[Symbol.dispose]();
});

/** Wraps the store so that writes of assignments resolve only after `gate` opens. */
function heldStore(real: SqliteStore, gate: Promise<void>): SqliteStore {
  const move: JobStore["move"] = async (change) => {
    const moved = real.jobs.move(change);
    if (change.event === "assign") await gate;
    return moved;
  };
  return withReplaced(real, { jobs: { move } });
}

/** Stores a job before an Island is online, so that its assignment is a separate commit. */
async function submit(): Promise<{ id: string; feed: Feed }> {
  const input = { prompt: "Hi", max_tokens: 10 };
  const job = await world.jobs.submit({ accountId, slug: "cheap", input, priority: 0, idempotency: null });
  await agent.connect(false);
  await world.settle();
  return { id: job.record.id, feed: await job.openFeed() };
}

describe("an attempt whose assignment is not durable yet", () => {
  it("sends its output to readers only once it is durable, and in order", async () => {
    const { feed } = await submit();
    const said = [agent.act("start", 0), agent.act("output", 0), agent.act("output", 0), agent.act("finish", 0)];
    await world.settle();
    expect([feed.hasOutput, feed.ending]).toEqual([false, null]);
    open();
    await Promise.all(said);
    expect([feed.text(), feed.ending?.type]).toEqual(["abcabcd", "done"]);
  });

  it("sends no output if the job is cancelled first", async () => {
    const { id, feed } = await submit();
    const said = agent.act("output", 0);
    const cancelled = world.jobs.cancel(accountId, id);
    open();
    await Promise.all([said, cancelled]);
    expect([feed.hasOutput, feed.ending]).toMatchObject([false, { type: "error", code: "cancelled" }]);
    expect((await world.jobs.get(accountId, id)).usage).toBeNull();
  });
});
