import { afterEach, expect, it } from "vitest";
import { makeCargo } from "../scheduler/builders.ts";
import { peerOf } from "./peers-on.ts";
import { SharingNetwork, type SharingCoordinator } from "./sharing/sharing-network.ts";

let network: SharingNetwork;
const at = (index: number): SharingCoordinator => network.coordinators[index] as SharingCoordinator;

afterEach(() => network.close());

it("a coordinator that lives and is silent was not heard, one that is gone need not be; one that came counts from then on", async () => {
  network = new SharingNetwork(3, [makeCargo()]);
  const sinceMs = network.clock.monotonicMs();
  const hasHeardAll = (since = sinceMs + 1_200): boolean => at(1).sharing.hasHeardAllSince(since);
  await network.pass(1_200);
  expect([hasHeardAll(sinceMs - 1), hasHeardAll()]).toEqual([false, true]);
  await at(0).sharing.close();
  await network.pass(3_500);
  expect(hasHeardAll()).toBe(false);
  network.setLive(["c2", "c3"]);
  expect(hasHeardAll()).toBe(true);
});

it("a coordinator without others answers the status of one that it does not know yet", async () => {
  network = new SharingNetwork(2, [makeCargo()]);
  at(0).peers.setLive([peerOf("c1")]);
  // Longer than a coordinator may be silent.
  await network.pass(5_000);
  expect(at(1).sharing.hasHeardAllSince(network.clock.monotonicMs())).toBe(true);
});
