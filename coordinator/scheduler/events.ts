import type { RuntimeType } from "../../shared/cargo.ts";

/** What the scheduler knows of an Island. */
export interface SchedulerIsland {
  /** Host id. */
  readonly id: string;
  /** Of its owner. */
  readonly accountId: string;
  /** Those that can be used on it. */
  readonly runtimes: readonly RuntimeType[];
  /** What jobs may use in all, whatever runs now. */
  readonly ramBytes: number;
  readonly vramBytes: number;
  /** Most jobs at once, over all Cargos. */
  readonly slots: number;
  readonly draining: boolean;
  /** Models and images on disk, as `cacheKeyOf()` names them. */
  readonly cachedModels: readonly string[];
  /** Slugs of the Cargos that are in memory. */
  readonly loaded: readonly string[];
  /** `fraction` 0 to 1, null when the size is unknown. */
  readonly downloads: readonly { readonly slug: string; readonly fraction: number | null }[];
  /** 0 to 1; null when unknown. */
  readonly cpuLoad: number | null;
  readonly rttMs: number | null;
}

export interface WaitingJob {
  readonly id: string;
  readonly accountId: string;
  readonly slug: string;
  /** The account whose Islands alone may run it, for a Cargo that is not approved; null: any Island. */
  readonly onlyIslandsOf: string | null;
  /** 0 to 100, higher first. */
  readonly priority: number;
  readonly createdAtMs: number;
  /** Islands that lost or refused the job: chosen only when no other is free. */
  readonly avoidIslands: readonly string[];
}

export type SchedulerEvent =
  /** A job that waits already is replaced. */
  | { readonly kind: "job_waiting"; readonly job: WaitingJob }
  /** Cancelled or timed out while waiting; unknown ids are ignored. */
  | { readonly kind: "job_gone"; readonly jobId: string }
  /** A new session. `busy`: slots taken by jobs that the Island goes on with. */
  | { readonly kind: "island_up"; readonly island: SchedulerIsland; readonly busy: number }
  /** Cache, load, draining and so on; slots in use are kept. Ignored for an Island that is not up. */
  | { readonly kind: "island_changed"; readonly island: SchedulerIsland }
  /** No new jobs; its slots are forgotten, its measurements are kept for its return. */
  | { readonly kind: "island_down"; readonly islandId: string }
  /** One job of the Island ended, and the Island confirmed it. */
  | { readonly kind: "slot_freed"; readonly islandId: string }
  /** A run ended. `tokensPerSecond` null where tokens mean nothing or none came. */
  | {
      readonly kind: "measured";
      readonly islandId: string;
      readonly slug: string;
      readonly tokensPerSecond: number | null;
      readonly succeeded: boolean;
    }
  /** The catalog now answers differently for `slug`: its needs changed, it came, or it went. */
  | { readonly kind: "cargo_changed"; readonly slug: string };

/** Give the job to the Island. The slot is taken and the job has left the queue already. */
export interface SchedulerEffect {
  readonly kind: "assign";
  readonly jobId: string;
  readonly islandId: string;
}
