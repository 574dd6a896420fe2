import { expect, it } from "vitest";
import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import { whileOthers } from "../../../coordinator/cluster/while-others.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { peerOf, peersOn } from "./peers-on.ts";

it("whileOthers() sets no timer without other coordinators, and runs once more after the last one has gone", async () => {
  const clock = new ManualClock();
  const peers = peersOn(new LocalBus(), "c1");
  const live = (...ids: string[]): void => peers.setLive(ids.map(peerOf));
  let runs = 0;
  const stop = whileOthers(peers, clock, 1_000, () => (runs += 1));
  const pass = async (): Promise<void> => {
    clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  };
  await pass();
  expect([runs, clock.pendingTimers]).toEqual([0, 0]);
  live("c1", "c2");
  await pass();
  await pass();
  expect([runs, clock.pendingTimers]).toEqual([2, 1]);
  live("c1");
  await pass();
  await pass();
  expect([runs, clock.pendingTimers]).toEqual([3, 0]);
  live("c1", "c2");
  stop();
  await pass();
  expect([runs, clock.pendingTimers]).toEqual([3, 0]);
});

it("whileOthers() does not start a run before the last one has finished", async () => {
  const clock = new ManualClock();
  const held = Promise.withResolvers<void>();
  let runs = 0;
  whileOthers(peersOn(new LocalBus(), "c1", ["c1", "c2"]), clock, 1_000, () => ((runs += 1), held.promise));
  clock.advance(5_000);
  expect(runs).toBe(1);
  held.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(1_000);
  expect(runs).toBe(2);
});

it("whileOthers() keeps running after the last one has gone until it has succeeded", async () => {
  const clock = new ManualClock();
  const peers = peersOn(new LocalBus(), "c1", ["c1", "c2"]);
  let runs = 0;
  let isPossible = false;
  whileOthers(peers, clock, 1_000, async () => {
    runs += 1;
    return isPossible;
  });
  const pass = async (): Promise<void> => {
    clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  };
  peers.setLive([peerOf("c1")]);
  await pass();
  await pass();
  expect([runs, clock.pendingTimers]).toEqual([2, 1]);
  isPossible = true;
  await pass();
  await pass();
  expect([runs, clock.pendingTimers]).toEqual([3, 0]);
});
