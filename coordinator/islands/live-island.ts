import type { IslandState } from "../../shared/protocol/from-island.ts";

/** What a coordinator knows of an Island that is connected to it. Coordinators send it to each other. */
export interface LiveIsland {
  readonly hostId: string;
  /** It takes no new jobs: its owner paused it, it is outside its hours, or it leaves. */
  readonly isDraining: boolean;
  /** It gets no or few jobs, because it let down several in a row. */
  readonly isQuarantined: boolean;
  readonly slots: number;
  readonly slotsBusy: number;
  /** 0 to 1, over all cores; null: not known. */
  readonly cpuLoad: number | null;
  readonly freeRamBytes: number | null;
  readonly freeVramBytes: number | null;
  /** °C of its hottest processor or graphics card; null: not known. */
  readonly temperatureC: number | null;
  /** Cargos whose model is in memory; at most {@link MAX_LOADED}. */
  readonly loaded: readonly string[];
  /** 0 to 1, of its busiest graphics card; null: not known. */
  readonly gpuLoad: number | null;
  /** At most {@link MAX_LOADED} of each. */
  readonly loading: readonly string[];
  readonly downloads: readonly LiveDownload[];
  /** Cargos of the jobs that it has now, first those that began first, and when each began in ms since the epoch. */
  readonly running: readonly { readonly slug: string; readonly sinceMs: number }[];
  /** Keys of the models and images on its disk; at most {@link MAX_CACHED}. Empty where nobody asked for them. */
  readonly cachedModels: readonly string[];
}

/** A download of an Island, as its agent reports it. */
export type LiveDownload = IslandState["downloads"][number];

/** Together they keep the Islands of an account in one message between coordinators. */
export const MAX_LOADED = 10;
export const MAX_CACHED = 200;

/** Sends Islands away for good, and tells what is known of them; see `IslandRegistry`. */
export interface ConnectedIslands {
  /** The connected Islands of an account, or one of them with its models. */
  liveOf(accountId: string, hostId: string | null): readonly LiveIsland[];
  remove(accountId: string, hostId: string): void;
}

/** The same of all other coordinators. */
export interface IslandsElsewhere {
  /** `isComplete` false: a coordinator that may have Islands of the account did not answer. */
  liveOf(
    accountId: string,
    hostId: string | null,
  ): Promise<{ readonly islands: readonly LiveIsland[]; readonly isComplete: boolean }>;
  remove(accountId: string, hostId: string): Promise<void>;
}
