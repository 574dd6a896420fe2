import { expect, it } from "vitest";
import { openDeadlines } from "../../../../coordinator/jobs/attempts/deadlines.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

/** @param limitMs Maximum time without activity of a job. */
function world(limitMs = Infinity) {
  const clock = new ManualClock();
  const passed: string[] = [];
  let lastActivityMs = 0;
  const recordActivity = (): void => void (lastActivityMs = clock.monotonicMs());
  const leftMs = (): number => lastActivityMs + limitMs - clock.monotonicMs();
  const deadlines = openDeadlines(clock, leftMs, (jobId) => {
    passed.push(`${jobId} silent at ${clock.monotonicMs()}`);
    recordActivity();
  });
  const set = (jobId: string, inMs: number): void =>
    deadlines.set(jobId, clock.now() + inMs, () => void passed.push(`${jobId} at ${clock.monotonicMs()}`));
  return { clock, deadlines, passed, set, recordActivity };
}

it("openDeadlines() serves all jobs with one timer, each at its own time", () => {
  const { clock, deadlines, passed, set } = world();
  set("b", 200);
  set("a", 100);
  set("c", 300);
  set("b", 250);
  expect(clock.pendingTimers).toBe(1);
  deadlines.clear("c");
  clock.advance(1_000);
  expect(passed).toEqual(["a at 100", "b at 250"]);
  expect(clock.pendingTimers).toBe(0);
});

it("openDeadlines() postpones the moving limit on activity, but not the fixed one", () => {
  const { clock, passed, set, recordActivity } = world(50);
  set("a", 150);
  clock.advance(40);
  recordActivity();
  clock.advance(49);
  expect(passed).toEqual([]);
  clock.advance(100);
  expect(passed).toEqual(["a silent at 90", "a silent at 140", "a at 150"]);
});

it("openDeadlines() calls nothing after close()", () => {
  const { clock, deadlines, passed, set } = world();
  set("a", 100);
  deadlines.close();
  set("b", 100);
  clock.advance(1_000);
  expect([passed, clock.pendingTimers]).toEqual([[], 0]);
});
