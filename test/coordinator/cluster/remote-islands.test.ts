import { describe, expect, it } from "vitest";
import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import { RemoteIslands } from "../../../coordinator/cluster/remote-islands.ts";
import type { LiveIsland } from "../../../coordinator/islands/live-island.ts";

const PEERS = ["one", "two", "three"].map((id) => ({ id, address: "", version: "" }));

const live = (hostId: string): LiveIsland => ({
  hostId,
  isDraining: false,
  isQuarantined: false,
  slots: 2,
  slotsBusy: 1,
  cpuLoad: null,
  freeRamBytes: null,
  freeVramBytes: null,
  loaded: [],
  cachedModels: [],
});

/** A network in which "three" is silent. Each of the others has an Island that is named after it. */
function openNetwork() {
  const bus = new LocalBus();
  const removed: string[] = [];
  const warned: unknown[] = [];
  const log = { warn: (facts: object) => void warned.push((facts as { coordinator: string }).coordinator) };
  const members = PEERS.slice(0, 2).map(
    (self) =>
      new RemoteIslands({
        bus,
        log,
        availability: (accountId) => [{ slug: `${self.id} for ${accountId}`, islands: 1, ready: 0, free: 1 }],
        members: { self, living: PEERS },
        here: {
          liveOf: (accountId, hostId) =>
            [live(self.id)].filter((island) => accountId === "user_1" && (hostId ?? island.hostId) === island.hostId),
          remove: (accountId, hostId) => void removed.push(`${self.id}: ${accountId} ${hostId}`),
        },
      }),
  );
  return { one: members[0] as RemoteIslands, two: members[1] as RemoteIslands, removed, warned };
}

describe("RemoteIslands", () => {
  it("asks all others, and says when one did not answer", async () => {
    const { one, warned } = openNetwork();
    expect(await one.liveOf("user_1", null)).toEqual({ islands: [live("two")], isComplete: false });
    expect(await one.liveOf("user_1", "one")).toMatchObject({ islands: [] });
    expect(await one.liveOf("user_2", null)).toMatchObject({ islands: [] });
    expect(warned).toEqual(["three", "three", "three"]);
  });

  it("tells all others of a removal", async () => {
    const { two, removed } = openNetwork();
    await two.remove("user_1", "host");
    expect(removed).toEqual(["one: user_1 host"]);
  });

  it("asks all others what they can run", async () => {
    const { one } = openNetwork();
    const answers = await one.availability("user_1");
    expect(answers).toEqual([[{ slug: "two for user_1", islands: 1, ready: 0, free: 1 }], undefined]);
  });

  it("answers no more once it is closed", async () => {
    const { one, two } = openNetwork();
    two.close();
    expect(await one.liveOf("user_1", null)).toEqual({ islands: [], isComplete: false });
  });
});
