import { expect, it } from "vitest";
import { openSqliteStore } from "../../../coordinator/store/sqlite/sqlite-store.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { FIRST_PAUSE_MS, JobWorld } from "../jobs/job-world.ts";
import { ScriptedAgent } from "../jobs/scripted-agent.ts";
import { makeAccount, temporaryFolder } from "../store/contract/store-builders.ts";

it("a failure to send an attempt after its input was read is fatal, and leaves no unhandled rejection", async () => {
  using folder = temporaryFolder();
  const clock = new ManualClock();
  const store = await openSqliteStore({ path: folder.file("atoll.db"), clock });
  const accountId = await makeAccount(store, { grantMicro: 1_000_000_000 });
  const world = new JobWorld(store, clock);
  const agent = new ScriptedAgent(world, accountId);
  await agent.connect(false);
  await world.jobs.submit({ accountId, slug: "cheap", input: { prompt: "Hi" }, priority: 0, idempotency: null });
  const broken = new Error("the key is gone");
  world.signer.sign = () => {
    throw broken;
  };
  // The refused job is assigned again after a delay, and its input is read from storage.
  await agent.act("refuse", 0);
  clock.advance(FIRST_PAUSE_MS);
  await world.settle();
  expect(world.fatal).toEqual([broken]);
  world.close();
  await store.close();
});
