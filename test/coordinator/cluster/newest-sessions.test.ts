import { beforeEach, describe, expect, it } from "vitest";
import { orderSessions } from "../../../coordinator/cluster/newest-sessions.ts";
import type { IslandLink } from "../../../coordinator/islands/island.ts";
import {
  islandConnections,
  type AttemptReports,
  type IslandConnections,
} from "../../../coordinator/islands/island-connections.ts";
import { IslandRegistry, type IslandRegistryEvent } from "../../../coordinator/islands/island-registry.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import { makeHello } from "../../support/network/frames.ts";
import { testEnv } from "../../support/test-env.ts";
import { CuttableBus } from "./quota-network.ts";
import { peersOn } from "./peers-on.ts";

/** Socket that records why it was closed. */
class Link implements IslandLink {
  dismissReason: string | null = null;
  get isOpen(): boolean {
    return this.dismissReason === null;
  }
  send(): void {}
  dismiss(reason: string): void {
    this.dismissReason = reason;
  }
}

const HOST = "7e2f1a50-0000-4000-8000-000000000001";
const OWNER = { accountId: "user_1", tokenCreatedAtMs: 0 };
const REPLACED = "replaced by a newer session of the same host";
const neverCalled = (): never => expect.fail("Called");
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("two sessions of one Island at two coordinators", () => {
  let bus: CuttableBus;
  let numbers: number[];
  let opened = 0;
  let one: IslandRegistry;
  let two: IslandRegistry;
  /** A promise that each save of an Island waits for. */
  let saved: Promise<unknown>;
  const doors = new WeakMap<IslandRegistry, IslandConnections>();
  let events: IslandRegistryEvent["type"][];
  const open = (): IslandRegistry => {
    const env = testEnv({ islandGraceMs: 1_000, restartGraceMs: 1_000, heartbeatMs: 1_000 });
    const islands = new IslandRegistry(env, () => null);
    const sessions = { nextNumber: async () => numbers.shift() as number };
    const order = orderSessions(peersOn(bus, `c${(opened += 1)}`), islands, sessions, { warn: () => undefined });
    const reports = { claim: () => undefined, reconcile: () => [] } as unknown as AttemptReports;
    const store = { islands: { save: () => saved.then(() => "saved") } } as unknown as Store;
    const unused = { sign: neverCalled, find: neverCalled };
    const quarantineOf = () => null;
    const suspensionOf = () => null;
    const args = [env, store, islands, reports, unused, unused, quarantineOf, suspensionOf, order] as const;
    doors.set(islands, islandConnections(...args));
    return islands;
  };
  beforeEach(() => {
    [bus, numbers, events, saved] = [new CuttableBus(), [1, 2, 3, 4], [], Promise.resolve()];
    [one, two] = [open(), open()];
    one.subscribe(({ type }) => events.push(type));
  });
  const connect = (islands: IslandRegistry, accountId = "user_1"): Link => {
    const link = new Link();
    void doors.get(islands)?.connect(makeHello({ hostId: HOST }), { ...OWNER, accountId }, "session_1", link);
    return link;
  };

  it("become one, so that the newer session stays and the older one gets no more jobs", async () => {
    const older = connect(one);
    await settle();
    const newer = connect(two);
    await settle();
    expect([older.dismissReason, newer.dismissReason]).toEqual([REPLACED, null]);
    expect([one.connectedCount, two.connectedCount]).toEqual([0, 1]);
    expect(events).toEqual(["island_up", "island_down"]);
  });

  it("leave the host id to the first account if they belong to two accounts and storage has lost the owner of the id", async () => {
    const first = connect(one);
    await settle();
    const second = connect(two, "user_2");
    await settle();
    expect([first.dismissReason, second.dismissReason]).toEqual([null, REPLACED]);
    expect([one.connectedCount, two.connectedCount]).toEqual([1, 0]);
  });

  it("become one even if they start at the same time, whichever message is first", async () => {
    for (const order of [
      [1, 2],
      [2, 1],
    ] as const) {
      numbers = [...order];
      [one, two] = [open(), open()];
      const [first, second] = [connect(one), connect(two)];
      await settle();
      const [older, newer] = order[0] === 1 ? [first, second] : [second, first];
      expect([older.dismissReason, newer.dismissReason]).toEqual([REPLACED, null]);
    }
  });

  it("keep their order if the older takes longer to start", async () => {
    const slow = Promise.withResolvers<void>();
    saved = slow.promise;
    const older = connect(one);
    saved = Promise.resolve();
    const newer = connect(two);
    await settle();
    slow.resolve();
    await settle();
    expect([older.dismissReason, newer.dismissReason]).toEqual([REPLACED, null]);
    // Delays the save at this coordinator as well.
    saved = new Promise((resolve) => setImmediate(resolve));
    const third = connect(two);
    saved = Promise.resolve();
    const fourth = connect(two);
    await settle();
    await settle();
    expect([newer, third, fourth].map(({ isOpen }) => isOpen)).toEqual([false, false, true]);
    expect(two.connectedCount).toBe(1);
  });

  it("both stay while the bus is down, and the older ends when it is back", async () => {
    bus.setDown("cut");
    const [older, newer] = [connect(one), connect(two)];
    await settle();
    expect([older.isOpen, newer.isOpen]).toEqual([true, true]);
    bus.setDown(null);
    await settle();
    expect([older.dismissReason, newer.dismissReason]).toEqual([REPLACED, null]);
  });
});
