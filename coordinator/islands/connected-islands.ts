import type { IslandRegistry } from "./island-registry.ts";
import { MAX_CACHED, MAX_LOADED, type ConnectedIslands, type LiveIsland } from "./live-island.ts";

/** The Islands that are connected to this coordinator, as their owners see them. */
export function connectedIslands(
  islands: Pick<IslandRegistry, "connectedFacts" | "remove">,
  isQuarantined: (hostId: string) => boolean,
): ConnectedIslands {
  return {
    liveOf: (accountId, hostId) =>
      islands.connectedFacts(accountId, hostId).map((island) => {
        const live = liveIsland(island, isQuarantined);
        return hostId === null ? live : { ...live, cachedModels: island.facts.cachedModels.slice(0, MAX_CACHED) };
      }),
    remove: (accountId, hostId) => islands.remove(accountId, hostId),
  };
}

/** Without the models on its disk. */
export function liveIsland(
  { island, facts }: ReturnType<IslandRegistry["factsOf"]>[number],
  isQuarantined: (hostId: string) => boolean,
): LiveIsland {
  return {
    hostId: island.hostId,
    isDraining: facts.draining,
    isQuarantined: isQuarantined(island.hostId),
    slots: facts.slots,
    slotsBusy: island.slotsInUse,
    cpuLoad: facts.cpuLoad,
    freeRamBytes: island.freeRamBytes,
    freeVramBytes: island.freeVramBytes,
    temperatureC: island.temperatureC,
    loaded: facts.loaded.slice(0, MAX_LOADED),
    cachedModels: [],
  };
}
