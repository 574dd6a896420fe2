import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RequestWindow, WINDOW_MS } from "../../../coordinator/quotas/request-window.ts";
import { ManualClock } from "../../support/manual-clock.ts";

/**
 * Number of times read and written, and of map entries read or changed. These cover everything that a decision
 * iterates.
 */
let touched = 0;

const touch = (name: string | symbol): void => {
  if (typeof name === "string" && /^\d+$/.test(name)) touched += 1;
};

/** Counts each access to a number in a ring's memory. Copying the whole memory, as on growth, counts once. */
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

/** Returns the number of accesses of the most expensive of `decisions`. */
function mostTouched(decisions: Iterable<() => unknown>): number {
  let most = 0;
  for (const decide of decisions) {
    touched = 0;
    decide();
    most = Math.max(most, touched);
  }
  return most;
}

/**
 * Accesses for a known caller: the lookup, reading its oldest time, writing the new time, reading the time that frees a
 * request, and growth.
 */
const FEW = 12;

describe("the accesses of one decision of the request window", () => {
  it.each([
    [1, 10_000, 100],
    [20_000, 3, 100],
    [3, 100_000, 100_000],
  ])("stay constant with %i callers of %i requests and a limit of %i", (callers, requests, limit) => {
    const window = new RequestWindow(new ManualClock());
    const names = Array.from({ length: callers }, (_, index) => `caller${index}`);
    const decisions = function* (): Generator<() => unknown> {
      for (let request = 0; request < requests; request += 1) {
        for (const name of names) yield () => window.count(name, limit);
      }
    };
    expect(mostTouched(decisions())).toBeLessThanOrEqual(FEW);
  });

  it("grow with the logarithm of the limit when a whole minute ends at once", () => {
    const clock = new ManualClock();
    const limit = 2 ** 16;
    const fill = (window: RequestWindow): void => {
      for (let request = 0; request < limit; request += 1) window.count("a", limit);
      clock.advance(1);
      window.count("a", limit);
    };
    for (const ask of ["count", "peek"] as const) {
      const window = new RequestWindow(clock);
      fill(window);
      clock.advance(WINDOW_MS - 1);
      expect(mostTouched([() => window[ask]("a", limit)])).toBeLessThanOrEqual(FEW + Math.log2(limit));
    }
  });

  it("stay constant when a generation of callers is dropped", () => {
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
