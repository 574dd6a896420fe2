import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RequestWindow, WINDOW_MS } from "../../../coordinator/quotas/request-window.ts";
import { ManualClock } from "../../support/manual-clock.ts";

/** Times read and written, and entries of maps looked at or changed: whatever a decision walks through is among them. */
let touched = 0;

const touch = (name: string | symbol): void => {
  if (typeof name === "string" && /^\d+$/.test(name)) touched += 1;
};

/** Counts each number of a ring's memory that is touched. To copy all of it, as growing does, counts once. */
function counted(times: Float64Array): Float64Array {
  return new Proxy(times, {
    get(target, name): unknown {
      touch(name);
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      touched += 1;
      return value.bind(target);
    },
    set(target, name, value): boolean {
      touch(name);
      return Reflect.set(target, name, value, target);
    },
  });
}

const CountingTimes = new Proxy(Float64Array, {
  construct: (target, [length]: [number]) => counted(new target(length)),
});

class CountingMap<K, V> extends Map<K, V> {
  override get(key: K): V | undefined {
    touched += 1;
    return super.get(key);
  }
  override set(key: K, value: V): this {
    touched += 1;
    return super.set(key, value);
  }
  override delete(key: K): boolean {
    touched += 1;
    return super.delete(key);
  }
  override *[Symbol.iterator](): MapIterator<[K, V]> {
    for (const entry of super[Symbol.iterator]()) {
      touched += 1;
      yield entry;
    }
    return undefined;
  }
  override *keys(): MapIterator<K> {
    for (const [key] of this) yield key;
    return undefined;
  }
  override *values(): MapIterator<V> {
    for (const [, value] of this) yield value;
    return undefined;
  }
  override *entries(): MapIterator<[K, V]> {
    yield* this;
    return undefined;
  }
}

beforeEach(() => {
  vi.stubGlobal("Float64Array", CountingTimes);
  vi.stubGlobal("Map", CountingMap);
});
afterEach(() => vi.unstubAllGlobals());

/** The most that one of `decisions` touched. */
function mostTouched(decisions: Iterable<() => unknown>): number {
  let most = 0;
  for (const decide of decisions) {
    touched = 0;
    decide();
    most = Math.max(most, touched);
  }
  return most;
}

/** Of a caller who is there: found, its oldest time read, the new one written, and that which frees a place read; and when it grows. */
const FEW = 12;

describe("what one decision of the request window touches", () => {
  it.each([
    [1, 10_000, 100],
    [20_000, 3, 100],
    [3, 100_000, 100_000],
  ])("is no more with %i callers of %i requests and a limit of %i", (callers, requests, limit) => {
    const window = new RequestWindow(new ManualClock());
    const names = Array.from({ length: callers }, (_, index) => `caller${index}`);
    const decisions = function* (): Generator<() => unknown> {
      for (let request = 0; request < requests; request += 1) {
        for (const name of names) yield () => window.count(name, limit);
      }
    };
    expect(mostTouched(decisions())).toBeLessThanOrEqual(FEW);
  });

  it("grows by the logarithm of the limit, not by the limit, when a whole minute ends at once", () => {
    const clock = new ManualClock();
    const limit = 2 ** 16;
    const fill = (window: RequestWindow): void => {
      for (let request = 0; request < limit; request += 1) window.count("a", limit);
      clock.advance(1);
      window.count("a", limit);
    };
    for (const ask of ["count", "look"] as const) {
      const window = new RequestWindow(clock);
      fill(window);
      clock.advance(WINDOW_MS - 1);
      expect(mostTouched([() => window[ask]("a", limit)])).toBeLessThanOrEqual(FEW + Math.log2(limit));
    }
  });

  it("is no more when a generation of callers is dropped", () => {
    const clock = new ManualClock();
    const window = new RequestWindow(clock, 1_000);
    const decisions = function* (): Generator<() => unknown> {
      for (let index = 0; index < 5_000; index += 1) yield () => window.count(`caller${index}`, 100);
      clock.advance(WINDOW_MS);
      for (let index = 0; index < 5_000; index += 1) yield () => window.count(`caller${index}`, 100);
    };
    expect(mostTouched(decisions())).toBeLessThanOrEqual(FEW);
  });
});
