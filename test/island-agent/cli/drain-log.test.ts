import { expect, it } from "vitest";
import { logDrain } from "../../../island-agent/cli/drain-log.ts";
import { settle } from "../../support/event-log.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { FakeLog } from "../builders.ts";

it("logDrain() logs running jobs and the time left every ten seconds, until no job runs", async () => {
  const [clock, log] = [new ManualClock(), new FakeLog()];
  let running = [{ jobId: "job_1", slug: "my-model", type: "llmcpp" as const, forMs: 62_000 }];
  const done = logDrain({ status: () => ({ running }) }, clock, log, 60_000, new AbortController().signal);
  for (let count = 0; count < 2; count += 1) {
    clock.advance(10_000);
    await settle();
  }
  running = [];
  clock.advance(10_000);
  await done;
  expect(log.events.all).toEqual([
    "info Stopping: 50 s left for running jobs",
    "info Stopping: 40 s left for running jobs",
  ]);
  expect(log.facts[0]).toEqual({ jobs: ["my-model for 62 s"] });
  expect(clock.pendingTimers).toBe(0);
});
