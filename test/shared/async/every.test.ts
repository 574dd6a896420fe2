import { beforeEach, describe, expect, it } from "vitest";
import { ServiceError } from "../../../shared/errors.ts";
import { every } from "../../../shared/async/every.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const settle = () => new Promise((resolve) => setImmediate(resolve));

let clock: ManualClock;
let stop: AbortController;
let lines: string[];
let begun: number;
let work: () => unknown;
let now: () => Promise<void>;

beforeEach(() => {
  clock = new ManualClock();
  stop = new AbortController();
  lines = [];
  begun = 0;
  work = () => undefined;
  const log = { error: (_facts: object, text: string) => void lines.push(text) } as never;
  now = every({ clock, log, stop: stop.signal }, 100, "do the work", () => {
    begun += 1;
    return work();
  });
});

const pass = async (ms: number): Promise<void> => {
  clock.advance(ms);
  await settle();
};

describe("every()", () => {
  it("runs after the interval, and again an interval after each end", async () => {
    await pass(99);
    expect(begun).toBe(0);
    await pass(1);
    await pass(100);
    expect(begun).toBe(2);
  });

  it("never overlaps, because a slow run delays the next one", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    work = () => promise;
    await pass(100);
    const second = now();
    await pass(1_000);
    expect(begun).toBe(1);
    resolve();
    await second;
    expect(begun).toBe(2);
    await pass(99);
    expect(begun).toBe(2);
  });

  it("logs an error once until another occurs or the work succeeds, and continues", async () => {
    let fault = "no";
    const fail = (): never => {
      throw new Error(fault);
    };
    work = fail;
    await now();
    await pass(100);
    expect([begun, lines]).toEqual([2, ["Could not do the work"]]);
    fault = "another";
    await pass(100);
    expect(lines).toHaveLength(2);
    work = () => undefined;
    await pass(100);
    work = fail;
    await pass(100);
    expect(lines).toHaveLength(3);
  });

  it("does not log that the coordinator shuts down", async () => {
    work = () => Promise.reject(new ServiceError("shutting_down", "bye"));
    await now();
    expect(lines).toEqual([]);
  });

  it("ends with the signal, and waits for the run in progress", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    work = () => promise;
    await pass(100);
    stop.abort();
    let hasEnded = false;
    const ended = now().then(() => (hasEnded = true));
    await settle();
    expect(hasEnded).toBe(false);
    resolve();
    await ended;
    await pass(1_000);
    expect([begun, clock.pendingTimers]).toEqual([1, 0]);
  });
});
