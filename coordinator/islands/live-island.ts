import { z } from "zod";
import type { DeepReadonly } from "../../shared/deep-readonly.ts";
import { downloadSchema } from "../../shared/protocol/from-island.ts";
import type { IslandRegistry, ReportedIsland } from "./island-registry.ts";

/** Together they keep the Islands of an account in one message between coordinators. */
export const MAX_LOADED = 10;
export const MAX_CACHED = 200;

const share = z.number().min(0).max(1).nullable();
const freeBytes = z.number().nonnegative().nullable();
const slugs = z.array(z.string()).max(MAX_LOADED);

/** What a coordinator knows of an Island that is connected to it. Coordinators send it to each other. */
export const liveIslandSchema = z.object({
  hostId: z.string(),
  /** It takes no new jobs: its owner paused it, it is outside its hours, or it leaves. */
  isDraining: z.boolean(),
  /** It gets no or few jobs, because it failed several in a row. */
  isQuarantined: z.boolean(),
  slots: z.number(),
  slotsBusy: z.number(),
  /** 0 to 1, over all cores; null: not known. */
  cpuLoad: share,
  freeRamBytes: freeBytes,
  freeVramBytes: freeBytes,
  /** °C of its hottest processor or graphics card; null: not known. */
  temperatureC: z.number().nullable(),
  /** 0 to 1, of its busiest graphics card; null: not known. */
  gpuLoad: share,
  /** Cargos whose model is in memory. */
  loaded: slugs,
  loading: slugs,
  /** As its agent reports them. */
  downloads: z.array(downloadSchema).max(MAX_LOADED),
  /** Cargos of the jobs that it has now, first those that began first, and when each began in ms since the epoch. */
  running: z.array(z.object({ slug: z.string(), sinceMs: z.number() })).max(MAX_LOADED),
  /** Keys of the models and images on its disk. Empty where they were not asked for. */
  cachedModels: z.array(z.string()).max(MAX_CACHED),
});
export type LiveIsland = DeepReadonly<z.infer<typeof liveIslandSchema>>;
export type LiveDownload = LiveIsland["downloads"][number];

interface HeldJob {
  readonly slug: string;
  readonly createdAtMs: number;
  /** When its present attempt began; null before. */
  readonly startedAtMs: number | null;
}

/** Facts about Islands that their reports do not have. */
interface IslandContext {
  readonly isQuarantined: (hostId: string) => boolean;
  readonly jobs: { get(jobId: string): HeldJob | undefined };
}

export type ConnectedIslands = ReturnType<typeof connectedIslands>;

/** The Islands that are connected to this coordinator, as their owners see them. */
export function connectedIslands(islands: Pick<IslandRegistry, "connectedFacts" | "remove">, context: IslandContext) {
  return {
    /** Those of an account, or one of them with its models. */
    liveOf: (accountId: string, hostId: string | null): readonly LiveIsland[] =>
      islands.connectedFacts(accountId, hostId).map((island) => {
        const live = liveIsland(island, context);
        return hostId === null ? live : { ...live, cachedModels: island.facts.cachedModels.slice(0, MAX_CACHED) };
      }),
    /** Sends one away for good. */
    remove: (accountId: string, hostId: string): void => islands.remove(accountId, hostId),
  };
}

/** Without the models on its disk. */
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

/** As {@link ConnectedIslands}, for all other coordinators. */
export interface IslandsElsewhere {
  /** `isComplete` false: a coordinator that may have Islands of the account did not answer. */
  liveOf(
    accountId: string,
    hostId: string | null,
  ): Promise<{ readonly islands: readonly LiveIsland[]; readonly isComplete: boolean }>;
  remove(accountId: string, hostId: string): Promise<void>;
}
