import type { IslandRegistry } from "./island-registry.ts";
import { MAX_CACHED, MAX_LOADED, type ConnectedIslands, type LiveIsland } from "./live-island.ts";

interface HeldJob {
  readonly slug: string;
  readonly createdAtMs: number;
  /** When its present attempt began; null before. */
  readonly startedAtMs: number | null;
}

/** Facts about Islands that their reports do not have. */
export interface IslandContext {
  readonly isQuarantined: (hostId: string) => boolean;
  readonly jobs: { get(jobId: string): HeldJob | undefined };
}

/** The Islands that are connected to this coordinator, as their owners see them. */
export function connectedIslands(
  islands: Pick<IslandRegistry, "connectedFacts" | "remove">,
  context: IslandContext,
): ConnectedIslands {
  return {
    liveOf: (accountId, hostId) =>
      islands.connectedFacts(accountId, hostId).map((island) => {
        const live = liveIsland(island, context);
        return hostId === null ? live : { ...live, cachedModels: island.facts.cachedModels.slice(0, MAX_CACHED) };
      }),
    remove: (accountId, hostId) => islands.remove(accountId, hostId),
  };
}

/** Without the models on its disk. */
export function liveIsland(
  { island, facts }: ReturnType<IslandRegistry["factsOf"]>[number],
  { isQuarantined, jobs }: IslandContext,
): LiveIsland {
  const running = island.attempts().flatMap(({ jobId }) => {
    const job = jobs.get(jobId);
    return job === undefined ? [] : [{ slug: job.slug, sinceMs: job.startedAtMs ?? job.createdAtMs }];
  });
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
    gpuLoad: island.gpuLoad,
    loaded: facts.loaded.slice(0, MAX_LOADED),
    loading: island.loading.slice(0, MAX_LOADED),
    downloads: facts.downloads.slice(0, MAX_LOADED),
    running: running.sort((one, other) => one.sinceMs - other.sinceMs).slice(0, MAX_LOADED),
    cachedModels: [],
  };
}
