import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RequestWindow, WINDOW_MS } from "../../../coordinator/quotas/request-window.ts";
import { ManualClock } from "../../support/manual-clock.ts";

describe("RequestWindow", () => {
  it("count() allows the limit within a minute, and returns when the next request is allowed", () => {
    const clock = new ManualClock();
    const window = new RequestWindow(clock);
    expect(window.count("a", 2)).toEqual({ isAllowed: true, remaining: 1, freesInMs: 60_000 });
    clock.advance(10_000);
    expect(window.count("a", 2)).toEqual({ isAllowed: true, remaining: 0, freesInMs: 50_000 });
    clock.advance(1_000);
    expect(window.count("a", 2)).toEqual({ isAllowed: false, remaining: 0, freesInMs: 49_000 });
    clock.advance(48_999);
    expect(window.count("a", 2).isAllowed).toBe(false);
    clock.advance(1);
    expect(window.count("a", 2)).toEqual({ isAllowed: true, remaining: 0, freesInMs: 10_000 });
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9])("count() drops all of %i requests that end by this millisecond", (ended) => {
    const clock = new ManualClock();
    const window = new RequestWindow(clock);
    for (let request = 0; request < 10; request += 1) {
      if (request > 0) clock.advance(1_000);
      window.count("a", 10);
    }
    // The newest of the ending requests is exactly a minute old now.
    clock.advance(WINDOW_MS - 9_000 + (ended - 1) * 1_000);
    expect(window.peek("a", 10).remaining).toBe(ended);
    expect(window.count("a", 10)).toMatchObject({ isAllowed: true, remaining: ended - 1 });
  });

  it("look() returns a caller's count without counting or adding the caller", () => {
    const clock = new ManualClock();
    const window = new RequestWindow(clock);
    expect(window.peek("a", 1)).toEqual({ isAllowed: true, remaining: 1, freesInMs: 0 });
    expect(window.size).toBe(0);
    window.count("a", 1);
    clock.advance(59_999);
    expect(window.peek("a", 1)).toEqual({ isAllowed: false, remaining: 0, freesInMs: 1 });
    expect(window.peek("a", 2)).toEqual({ isAllowed: true, remaining: 1, freesInMs: 1 });
    clock.advance(1);
    expect(window.peek("a", 1)).toEqual({ isAllowed: true, remaining: 1, freesInMs: 0 });
  });

  it("count() counts callers separately", () => {
    const window = new RequestWindow(new ManualClock());
    expect(window.count("a", 1).isAllowed).toBe(true);
    expect(window.count("b", 1).isAllowed).toBe(true);
    expect(window.count("a", 1).isAllowed).toBe(false);
  });

  it("count() applies a raised or lowered limit at once", () => {
    const clock = new ManualClock();
    const window = new RequestWindow(clock);
    for (let i = 0; i < 4; i += 1) {
      window.count("a", 4);
      clock.advance(1_000);
    }
    expect(window.count("a", 4).isAllowed).toBe(false);
    expect(window.count("a", 5)).toMatchObject({ isAllowed: true, remaining: 0 });
    // The requests at 0 to 4 s leave the window at 60 to 64 s. With a limit of 3, another one is permitted at 62 s, when
    // two are left.
    const { isAllowed, freesInMs } = window.count("a", 3);
    expect([isAllowed, freesInMs]).toEqual([false, 58_000]);
    clock.advance(freesInMs - 1);
    expect(window.count("a", 3).isAllowed).toBe(false);
    clock.advance(1);
    expect(window.count("a", 3).isAllowed).toBe(true);
  });

  it("count() decides like a list of all times, for any times and callers", () => {
    const steps = fc.array(fc.record({ waitMs: fc.nat(30_000), caller: fc.constantFrom("a", "b", "c") }), {
      maxLength: 200,
    });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 12 }), (all, limit) => {
        const clock = new ManualClock();
        const window = new RequestWindow(clock);
        const allowed = new Map<string, number[]>();
        for (const { waitMs, caller } of all) {
          clock.advance(waitMs);
          const nowMs = clock.monotonicMs();
          const recent = (allowed.get(caller) ?? []).filter((atMs) => atMs > nowMs - WINDOW_MS);
          const expected = recent.length < limit;
          if (expected) recent.push(nowMs);
          allowed.set(caller, recent);
          expect(window.count(caller, limit)).toEqual({
            isAllowed: expected,
            remaining: limit - recent.length,
            freesInMs: (recent[0] ?? 0) + WINDOW_MS - nowMs,
          });
        }
      }),
    );
  });

  it("drops callers whose requests no longer count", () => {
    const clock = new ManualClock();
    const window = new RequestWindow(clock);
    for (let i = 0; i < 1_000; i += 1) window.count(`caller${i}`, 5);
    clock.advance(WINDOW_MS);
    window.count("late", 5);
    clock.advance(WINDOW_MS);
    window.count("later", 5);
    expect(window.size).toBe(2);
  });

  it("keeps callers of a flood up to the bound, and does not drop a frequent caller", () => {
    const clock = new ManualClock();
    const window = new RequestWindow(clock, 100);
    for (let i = 0; i < 3; i += 1) window.count("busy", 3);
    for (let i = 0; i < 10_000; i += 1) {
      window.count(`flood${i}`, 3);
      if (i % 50 === 0) expect(window.count("busy", 3).isAllowed).toBe(false);
      expect(window.size).toBeLessThanOrEqual(200);
    }
  });
});
