import { describe, expect, it } from "vitest";
import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import type { LiveIsland } from "../../../coordinator/islands/live-island.ts";
import { islandsElsewhere } from "../../../coordinator/open-hosts.ts";
import { peersOn } from "./peers-on.ts";

const PEERS = ["one", "two", "three"];

const live = (hostId: string): LiveIsland => ({
  hostId,
  isDraining: false,
  isQuarantined: false,
  slots: 2,
  slotsBusy: 1,
  cpuLoad: null,
  freeRamBytes: null,
  freeVramBytes: null,
  temperatureC: null,
  gpuLoad: null,
  loaded: [],
  loading: [],
  downloads: [],
  running: [],
  cachedModels: [],
});

/** Opens a network in which "three" is silent. Each other coordinator has an Island named after it. */
function openNetwork() {
  const bus = new LocalBus();
  const removed: string[] = [];
  const warned: unknown[] = [];
  const log = { warn: (facts: object) => void warned.push((facts as { coordinator: string }).coordinator) };
  const [one, two] = PEERS.slice(0, 2).map((id) => {
    const here = {
      liveOf: (accountId: string, hostId: string | null) =>
        [live(id)].filter((island) => accountId === "user_1" && (hostId ?? island.hostId) === island.hostId),
      remove: (accountId: string, hostId: string) => void removed.push(`${id}: ${accountId} ${hostId}`),
    };
    return islandsElsewhere(peersOn(bus, id, PEERS, { log }), here);
  });
  if (one === undefined || two === undefined) throw new Error("not open");
  return { one, two, removed, warned };
}

describe("islandsElsewhere()", () => {
  it("asks all other coordinators, and reports if one does not reply", async () => {
    const { one, warned } = openNetwork();
    expect(await one.liveOf("user_1", null)).toEqual({ islands: [live("two")], isComplete: false });
    expect(await one.liveOf("user_1", "one")).toMatchObject({ islands: [] });
    expect(await one.liveOf("user_2", null)).toMatchObject({ islands: [] });
    expect(warned).toEqual(["three", "three", "three"]);
  });

  it("announces a removal to all other coordinators", async () => {
    const { two, removed } = openNetwork();
    await two.remove("user_1", "host");
    expect(removed).toEqual(["one: user_1 host"]);
  });
});
