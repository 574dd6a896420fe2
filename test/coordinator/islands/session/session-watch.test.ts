import { describe, expect, it } from "vitest";
import { sessionWatch } from "../../../../coordinator/islands/session/session-watch.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const INTERVAL_MS = 10_000;

class LookedAt {
  readonly atMs: number[] = [];
  check(nowMs: number): void {
    this.atMs.push(nowMs);
  }
}

/** Creates a watch, its clock, and a count of the timers that the watch has set. */
function makeWatch() {
  const clock = new ManualClock();
  let timers = 0;
  const counting = {
    monotonicMs: () => clock.monotonicMs(),
    schedule: (delayMs: number, task: () => void) => {
      timers += 1;
      return clock.schedule(delayMs, task);
    },
  };
  return { clock, watch: sessionWatch(counting, INTERVAL_MS), timers: () => timers };
}

describe("sessionWatch()", () => {
  it("visits each session once per interval, first an interval after it was added", () => {
    const { clock, watch } = makeWatch();
    const sessions = Array.from({ length: 500 }, () => new LookedAt());
    const cameMs = sessions.map((session) => {
      clock.advance(7);
      watch.add(session);
      return clock.monotonicMs();
    });
    for (let passedMs = 0; passedMs < 3 * INTERVAL_MS; passedMs += 10) clock.advance(10);
    sessions.forEach(({ atMs }, index) => {
      const afterMs = (atMs[0] ?? 0) - (cameMs[index] ?? 0);
      expect(Math.abs(afterMs - INTERVAL_MS)).toBeLessThanOrEqual(INTERVAL_MS / 100);
      expect((atMs[1] ?? 0) - (atMs[0] ?? 0)).toBe(INTERVAL_MS);
    });
  });

  it("sets one timer for sessions added together, and one per tick of the interval", () => {
    const { clock, watch, timers } = makeWatch();
    const sessions = Array.from({ length: 1_000 }, () => new LookedAt());
    for (const session of sessions) watch.add(session);
    expect(timers()).toBe(1);
    for (let passedMs = 0; passedMs < INTERVAL_MS; passedMs += 10) clock.advance(10);
    expect(sessions.every(({ atMs }) => atMs.length === 1)).toBe(true);
    expect(timers()).toBe(2);
  });

  it("does not visit removed sessions, and has no timer without sessions", () => {
    const { clock, watch, timers } = makeWatch();
    const [gone, stays] = [new LookedAt(), new LookedAt()];
    const part = watch.add(gone);
    const other = watch.add(stays);
    watch.remove(gone, part);
    clock.advance(INTERVAL_MS);
    expect([gone.atMs.length, stays.atMs.length]).toEqual([0, 1]);
    watch.remove(stays, other);
    const before = timers();
    clock.advance(10 * INTERVAL_MS);
    expect([stays.atMs.length, timers()]).toEqual([1, before]);
  });
});
