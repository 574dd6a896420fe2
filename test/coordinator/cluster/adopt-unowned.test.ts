import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { adoptUnowned } from "../../../coordinator/cluster/adopt-unowned.ts";
import type { Peer } from "../../../coordinator/store/cluster-store.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const peer = (id: string): Peer => ({ id, address: `http://${id}`, version: "1" });

class FakeMembers {
  live: readonly Peer[] = ["c1", "c2", "c3"].map(peer);
  readonly #listeners = new Set<() => void>();

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  become(...ids: string[]): void {
    this.live = ids.map(peer);
    for (const listener of this.#listeners) listener();
  }
}

let clock: ManualClock;
let storageReturns: () => void;
let members: FakeMembers;
let runs: string[];
let faults: unknown[];
let failing: string | null;
let gate: Promise<void>;
let adoption: ReturnType<typeof adoptUnowned>;
beforeEach(() => {
  [clock, members, runs, faults, failing, gate] = [
    new ManualClock(),
    new FakeMembers(),
    [],
    [],
    null,
    Promise.resolve(),
  ];
  const step = (name: string) => async () => {
    await gate;
    runs.push(name);
    if (failing === name) throw new Error("away");
  };
  const log = { error: (facts: object) => void faults.push(facts) };
  const cluster = {
    onReturn: (listener: () => void) => {
      storageReturns = listener;
      return () => (storageReturns = () => undefined);
    },
  };
  const steps = { webhooks: step("webhooks"), answers: step("answers") };
  adoption = adoptUnowned(members, cluster, steps, 8_000, { clock, log });
});
afterEach(() => adoption.close());
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("adoptUnowned()", () => {
  it("runs all steps when a coordinator leaves and for a while afterwards, but not when one joins", async () => {
    members.become("c1", "c2", "c3", "c4");
    await settled();
    expect(runs).toEqual([]);
    members.become("c1", "c2", "c4");
    await settled();
    expect(runs).toEqual(["webhooks", "answers"]);
    for (const count of [4, 6, 6, 6]) {
      clock.advance(5_000);
      await settled();
      expect(runs).toHaveLength(count);
    }
  });

  it("runs all steps after a storage outage, because replies to commits may be lost", async () => {
    storageReturns();
    await settled();
    expect(runs).toEqual(["webhooks", "answers"]);
    await adoption.close();
    storageReturns();
    await settled();
    expect(runs).toHaveLength(2);
  });

  it("runs the other steps if one fails, and runs all of them again after a while", async () => {
    failing = "webhooks";
    adoption.start();
    await settled();
    expect([runs, faults]).toEqual([["webhooks", "answers"], [expect.objectContaining({ step: "webhooks" })]]);
    for (const count of [4, 6, 8]) {
      clock.advance(5_000);
      await settled();
      expect(runs).toHaveLength(count);
    }
    failing = null;
    for (const count of [10, 10]) {
      clock.advance(5_000);
      await settled();
      expect(runs).toHaveLength(count);
    }
  });

  it("runs once more for work that arrives during a run", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    adoption.start();
    members.become("c1", "c2");
    members.become("c1");
    resolve();
    await settled();
    expect(runs).toEqual(["webhooks", "answers", "webhooks", "answers"]);
  });

  it("does nothing after it is closed, and leaves no timer", async () => {
    failing = "webhooks";
    adoption.start();
    await settled();
    await adoption.close();
    members.become("c1");
    adoption.start();
    await settled();
    expect([runs.length, clock.pendingTimers]).toEqual([2, 0]);
  });
});
