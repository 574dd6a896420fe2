import { describe, expect, it } from "vitest";
import { Semaphore } from "../../../shared/async/semaphore.ts";
import { settle } from "../../support/event-log.ts";

/** Opens a semaphore and records the order in which callers got a permit. */
function open(permits: number) {
  const semaphore = new Semaphore<string>(permits);
  const admitted: string[] = [];
  const { signal } = new AbortController();
  const acquire = (...callers: string[]): void => {
    for (const caller of callers) void semaphore.acquire(caller, signal).then(() => admitted.push(caller));
  };
  return { semaphore, admitted, acquire };
}

describe("Semaphore", () => {
  it("admits waiting callers at once when it gets more permits", async () => {
    const { semaphore, admitted, acquire } = open(1);
    acquire("a", "b", "c", "d");
    await settle();
    expect(admitted).toEqual(["a"]);
    semaphore.setPermits(3);
    await settle();
    expect(admitted).toEqual(["a", "b", "c"]);
  });

  it("admits no caller while more permits are taken than its limit", async () => {
    const { semaphore, admitted, acquire } = open(3);
    acquire("a", "b", "c", "d");
    semaphore.setPermits(1);
    semaphore.release();
    semaphore.release();
    await settle();
    expect(admitted).toEqual(["a", "b", "c"]);
    semaphore.release();
    await settle();
    expect(admitted).toEqual(["a", "b", "c", "d"]);
    expect(semaphore.tryAcquire()).toBe(false);
  });
});
