import type { RuntimeType } from "../../shared/cargo.ts";
import type { OwnerPolicy } from "../../shared/owner-policy.ts";
import type { EngineModelReport, IslandState } from "../../shared/protocol/from-island.ts";
import type { JobClass } from "../store/jobs/job-store.ts";
import type { BreakerFailure } from "./circuit-breaker.ts";

export interface SchedulerIsland {
  readonly id: string;
  readonly accountId: string;
  readonly runtimes: readonly RuntimeType[];
  /** Total memory for jobs, including the memory that they use now. */
  readonly ramBytes: number;
  readonly vramBytes: number;
  /** Maximum number of concurrent jobs, over all Cargos. */
  readonly slots: number;
  /** Maximum number of concurrent jobs that no engine runs; if absent, `slots`. */
  readonly runtimeSlots?: number | undefined;
  readonly draining: boolean;
  /** What the owner allows; if absent, everything. */
  readonly policy?: OwnerPolicy | undefined;
  /** Protocol features of the agent beyond the first version; if absent, none. */
  readonly features?: readonly string[] | undefined;
  /** Cache keys (`cacheKeyOf()`) of the models and images on disk. */
  readonly cachedModels: readonly string[];
  /** Slugs of the Cargos in memory. */
  readonly loaded: readonly string[];
  /** Downloads in progress, with the details that only the owner sees. */
  readonly downloads: readonly IslandState["downloads"][number][];
  /** Slugs of the Cargos for which the Island lacks disk space; absent if not reported. */
  readonly noSpaceFor?: readonly string[] | undefined;
  /** Models that engines of the host serve; absent if it lends no engine. */
  readonly engineModels?: readonly EngineModelReport[] | undefined;
  readonly cpuLoad: number | null;
  readonly rttMs: number | null;
}

/** A kind of work: the jobs of one Cargo that the same Islands may run. */
export interface WorkKind {
  readonly slug: string;
  /** The account whose Islands may run a Cargo that is not approved. Null: any Island may run it. */
  readonly onlyIslandsOf: string | null;
  /** Features that an Island needs, sorted; if absent, none. See `shared/features/features.ts`. */
  readonly features?: readonly string[] | undefined;
}

export interface WaitingJob extends WorkKind {
  readonly id: string;
  readonly accountId: string;
  /** The account's weight in the fair share, 1 to 1,000; the default is 100. */
  readonly share: number;
  readonly jobClass: JobClass;
  /** Priority among the jobs of the account, 0 to 100. Higher starts first. */
  readonly priority: number;
  readonly createdAtMs: number;
  readonly waitLimitMs: number;
  /** Islands that lost or failed the job. They are chosen only if no other Island fits. */
  readonly avoidIslands: readonly string[];
  /** Accounts whose Islands the job avoids. `avoidIslands` has those that are online here. */
  readonly avoidAccounts?: ReadonlySet<string>;
}

export type SchedulerEvent =
  /** A new job. It is assigned now or ignored, and never waits. */
  | { readonly kind: "job_offered"; readonly job: WaitingJob }
  /** A job that competes for Islands. It replaces an entry of the same job. */
  | { readonly kind: "job_waiting"; readonly job: WaitingJob }
  /** The job no longer waits. Unknown ids are ignored. */
  | { readonly kind: "job_gone"; readonly jobId: string }
  /** A job that was taken for another coordinator did not move there. It competes again. Ignored for other jobs. */
  | { readonly kind: "job_stays"; readonly jobId: string }
  /** An Island opened a session. `busy`: number of its slots with jobs that it continues. */
  | { readonly kind: "island_up"; readonly island: SchedulerIsland; readonly busy: number }
  /**
   * An Island reported new facts: cache, load, draining. Its slots in use do not change. Ignored while it is offline.
   */
  | { readonly kind: "island_changed"; readonly island: SchedulerIsland }
  /** An Island left. Its slots are dropped; its measurements are kept for its return. */
  | { readonly kind: "island_down"; readonly islandId: string }
  | { readonly kind: "slot_freed"; readonly islandId: string; readonly jobId: string }
  /** The Island's slot for an earlier attempt of the job is free. Its slot for the current attempt stays. */
  | { readonly kind: "slot_superseded"; readonly islandId: string; readonly jobId: string }
  /** An Island refused, failed or lost a job that another Island may complete. Precedes `slot_freed`. */
  | ({ readonly kind: "failure"; readonly islandId: string; readonly slug: string } & BreakerFailure)
  /** A run ended. `tokensPerSecond` is null if the Cargo has no tokens or the run made none. */
  | {
      readonly kind: "measured";
      readonly islandId: string;
      readonly slug: string;
      readonly tokensPerSecond: number | null;
      readonly succeeded: boolean;
    }
  /** The Cargo was added, changed or removed. */
  | { readonly kind: "cargo_changed"; readonly slug: string }
  /** The time of `nextWakeMs` has come. */
  | { readonly kind: "time_passed" };

export type SchedulerEffect =
  /** The job starts on the Island. The scheduler has taken the slot and removed the job from its queue. */
  | { readonly kind: "assign"; readonly jobId: string; readonly islandId: string }
  /**
   * The Island failed several jobs in a row, of several Cargos. A null `quarantine` means that its quarantine is over.
   */
  | { readonly kind: "quarantine"; readonly islandId: string; readonly quarantine: Quarantine | null };

/** The state of an open circuit breaker for a whole Island. */
export interface Quarantine {
  /** Number of failures since the last success. */
  readonly inARow: number;
  /** Remaining open time in ms; 0 while the Island is probed. */
  readonly forMs: number;
  readonly lastCode: BreakerFailure["code"];
}
