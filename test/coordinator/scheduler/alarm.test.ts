import { beforeEach, describe, expect, it } from "vitest";
import { openAlarm } from "../../../coordinator/scheduler/alarm.ts";
import { ManualClock } from "../../support/manual-clock.ts";

describe("openAlarm()", () => {
  let clock: ManualClock;
  let deadlinesMs: number[];
  let firedMs: number[];
  let alarm: ReturnType<typeof openAlarm>;
  beforeEach(() => {
    [clock, deadlinesMs, firedMs] = [new ManualClock(), [], []];
    const startMs = clock.monotonicMs();
    alarm = openAlarm(
      clock,
      () => (deadlinesMs.length === 0 ? null : startMs + Math.min(...deadlinesMs)),
      () => {
        const nowMs = clock.monotonicMs() - startMs;
        firedMs.push(nowMs);
        deadlinesMs = deadlinesMs.filter((dueMs) => dueMs > nowMs);
      },
    );
  });
  const add = (dueMs: number): void => {
    deadlinesMs.push(dueMs);
    alarm.set();
  };

  it("fires at each deadline, with one timer for all", () => {
    for (const dueMs of [300, 100, 200]) add(dueMs);
    expect(clock.pendingTimers).toBe(1);
    for (let ms = 0; ms < 400; ms += 50) clock.advance(50);
    expect([firedMs, clock.pendingTimers]).toEqual([[100, 200, 300], 0]);
  });

  it("cancels its timer when no deadline is left", () => {
    add(100);
    deadlinesMs = [];
    alarm.set();
    expect(clock.pendingTimers).toBe(0);
  });

  it("sets no timer after close", () => {
    add(100);
    alarm.close();
    add(50);
    clock.advance(200);
    expect([firedMs, clock.pendingTimers]).toEqual([[], 0]);
  });
});
