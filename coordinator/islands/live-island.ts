import { z } from "zod";
import type { DeepReadonly } from "../../shared/deep-readonly.ts";
import { downloadSchema, engineModelSchema } from "../../shared/protocol/from-island.ts";
import type { IslandRegistry, ReportedIsland } from "./island-registry.ts";

/** Limits that keep the Islands of an account within one message between coordinators. */
export const MAX_LOADED = 10;
export const MAX_CACHED = 200;
export const MAX_ENGINE_MODELS_SHOWN = 50;

const share = z.number().min(0).max(1).nullable();
const freeBytes = z.number().nonnegative().nullable();
const slugs = z.array(z.string()).max(MAX_LOADED);

/** The state of a connected Island, which coordinators exchange. */
export const liveIslandSchema = z.object({
  hostId: z.string(),
  /** True if the Island accepts no new jobs: its owner paused it, it is outside its hours, or it is shutting down. */
  isDraining: z.boolean(),
  /** True if the Island gets few or no jobs because several jobs failed in a row. */
  isQuarantined: z.boolean(),
  slots: z.number(),
  slotsBusy: z.number(),
  /** Load of all CPU cores together, 0 to 1; null if unknown. */
  cpuLoad: share,
  freeRamBytes: freeBytes,
  freeVramBytes: freeBytes,
  /** Temperature of the hottest processor or graphics card, in °C; null if unknown. */
  temperatureC: z.number().nullable(),
  /** Load of the busiest graphics card, 0 to 1; null if unknown. */
  gpuLoad: share,
  /** Slugs of the Cargos whose model is in memory. */
  loaded: slugs,
  loading: slugs,
  downloads: z.array(downloadSchema).max(MAX_LOADED),
  /** Cargos of the running jobs, oldest first, with the start of each job in ms since the epoch. */
  running: z.array(z.object({ slug: z.string(), sinceMs: z.number() })).max(MAX_LOADED),
  /** Keys of the models and images on the Island's disk; empty unless requested. */
  cachedModels: z.array(z.string()).max(MAX_CACHED),
  /** Models of the host's engines; empty unless requested. Absent in coordinators of earlier versions. */
  engineModels: z
    .array(engineModelSchema.omit({ features: true }))
    .max(MAX_ENGINE_MODELS_SHOWN)
    .default([]),
});
export type LiveIsland = DeepReadonly<z.infer<typeof liveIslandSchema>>;
export type LiveDownload = LiveIsland["downloads"][number];
export type LiveEngineModel = LiveIsland["engineModels"][number];

interface HeldJob {
  readonly slug: string;
  readonly createdAtMs: number;
  /** Start of the job's current attempt, in ms since the epoch; null until then. */
  readonly startedAtMs: number | null;
}

/** Facts about Islands that are not in their reports. */
interface IslandContext {
  readonly isQuarantined: (hostId: string) => boolean;
  readonly jobs: { get(jobId: string): HeldJob | undefined };
}

export type ConnectedIslands = ReturnType<typeof connectedIslands>;

export function connectedIslands(islands: Pick<IslandRegistry, "connectedFacts" | "remove">, context: IslandContext) {
  return {
    liveOf: (accountId: string, hostId: string | null): readonly LiveIsland[] =>
      islands.connectedFacts(accountId, hostId).map((island) => {
        const live = liveIsland(island, context);
        if (hostId === null) return live;
        const { cachedModels, engineModels = [] } = island.facts;
        const shownModels = engineModels
          .slice(0, MAX_ENGINE_MODELS_SHOWN)
          .map(({ key, contextTokens, parameters, quantization, slots }) => {
            return { key, contextTokens, parameters, quantization, slots };
          });
        return { ...live, cachedModels: cachedModels.slice(0, MAX_CACHED), engineModels: shownModels };
      }),
    remove: (accountId: string, hostId: string): void => islands.remove(accountId, hostId),
  };
}

/** Returns the state of an Island without the models on its disk and of its engines. */
export function liveIsland({ island, facts }: ReportedIsland, { isQuarantined, jobs }: IslandContext): LiveIsland {
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
    cpuLoad: island.cpuLoad,
    freeRamBytes: island.freeRamBytes,
    freeVramBytes: island.freeVramBytes,
    temperatureC: island.temperatureC,
    gpuLoad: island.gpuLoad,
    loaded: facts.loaded.slice(0, MAX_LOADED),
    loading: island.loading.slice(0, MAX_LOADED),
    downloads: facts.downloads.slice(0, MAX_LOADED),
    running: running.sort((one, other) => one.sinceMs - other.sinceMs).slice(0, MAX_LOADED),
    cachedModels: [],
    engineModels: [],
  };
}

/** Like {@link ConnectedIslands}, for all other coordinators. */
export interface IslandsElsewhere {
  /** `isComplete` is false if a coordinator that may have Islands of the account did not reply. */
  liveOf(
    accountId: string,
    hostId: string | null,
  ): Promise<{ readonly islands: readonly LiveIsland[]; readonly isComplete: boolean }>;
  remove(accountId: string, hostId: string): Promise<void>;
}
