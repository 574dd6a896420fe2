import { afterEach, expect, it } from "vitest";
import { makeCargo } from "../scheduler/builders.ts";
import { peerOf } from "./peers-on.ts";
import { SharingNetwork, type SharingCoordinator } from "./sharing/sharing-network.ts";

let network: SharingNetwork;
const at = (index: number): SharingCoordinator => network.coordinators[index] as SharingCoordinator;

afterEach(() => network.close());

it("hasReceivedFromAllSince() requires every live coordinator, from when it joined, and ignores dead ones", async () => {
  network = new SharingNetwork(3, [makeCargo()]);
  const sinceMs = network.clock.monotonicMs();
  const hasReceivedFromAll = (since = sinceMs + 1_200): boolean => at(1).sharing.hasReceivedFromAllSince(since);
  await network.pass(1_200);
  expect([hasReceivedFromAll(sinceMs - 1), hasReceivedFromAll()]).toEqual([false, true]);
  await at(0).sharing.close();
  await network.pass(3_500);
  expect(hasReceivedFromAll()).toBe(false);
  network.setLive(["c2", "c3"]);
  expect(hasReceivedFromAll()).toBe(true);
});

it("a coordinator without peers replies to the status of one that it does not know yet", async () => {
  network = new SharingNetwork(2, [makeCargo()]);
  at(0).peers.setLive([peerOf("c1")]);
  // Longer than the allowed silence.
  await network.pass(5_000);
  expect(at(1).sharing.hasReceivedFromAllSince(network.clock.monotonicMs())).toBe(true);
});
