import type { RuntimeType } from "../../shared/cargo.ts";
import type { OwnerPolicy } from "../../shared/owner-policy.ts";
import type { IslandState } from "../../shared/protocol/from-island.ts";
import type { JobClass } from "../store/jobs/job-store.ts";
import type { BreakerFailure } from "./circuit-breaker.ts";

export interface SchedulerIsland {
  readonly id: string;
  readonly accountId: string;
  /** The usable ones. */
  readonly runtimes: readonly RuntimeType[];
  /** What jobs may use in total, including what they use now. */
  readonly ramBytes: number;
  readonly vramBytes: number;
  /** Most jobs at once, of all Cargos together. */
  readonly slots: number;
  readonly draining: boolean;
  /** What the owner allows; absent: everything. */
  readonly policy?: OwnerPolicy | undefined;
  /** What its agent can do beyond the first version of the protocol, by name; absent: nothing. */
  readonly features?: readonly string[] | undefined;
  /** Models and images on disk, as `cacheKeyOf()` names them. */
  readonly cachedModels: readonly string[];
  /** Slugs of the Cargos that are in memory. */
  readonly loaded: readonly string[];
  /** With figures that only the owner sees. */
  readonly downloads: readonly IslandState["downloads"][number][];
  /** Slugs of the Cargos that it lacks disk space for; absent: it does not say. */
  readonly noSpaceFor?: readonly string[] | undefined;
  /** 0 to 1; null when unknown. */
  readonly cpuLoad: number | null;
  readonly rttMs: number | null;
}

export interface WaitingJob {
  readonly id: string;
  readonly accountId: string;
  /** The account's weight in the fair share, 1 to 1,000; the default is 100. */
  readonly share: number;
  readonly slug: string;
  readonly jobClass: JobClass;
  /** For a Cargo that is not approved: the account whose Islands may run it, and no others. Null: any Island may. */
  readonly onlyIslandsOf: string | null;
  /** Features that an Island must have to run it, sorted; absent: none. See `shared/features/features.ts`. */
  readonly features?: readonly string[] | undefined;
  /** 0 to 100: higher first, among the jobs of its account. */
  readonly priority: number;
  readonly createdAtMs: number;
  readonly waitLimitMs: number;
  /** Islands that lost or failed the job. Chosen only if no other one fits. */
  readonly avoidIslands: readonly string[];
  /** Accounts whose Islands the job avoids. Those online here are in `avoidIslands`; others may be at another coordinator. */
  readonly avoidAccounts?: ReadonlySet<string>;
}

export type SchedulerEvent =
  /** The job is assigned now, or not at all: it does not wait. */
  | { readonly kind: "job_offered"; readonly job: WaitingJob }
  /** Replaces the job if it waits already. */
  | { readonly kind: "job_waiting"; readonly job: WaitingJob }
  /** The job no longer waits. Unknown ids are ignored. */
  | { readonly kind: "job_gone"; readonly jobId: string }
  /** The job was taken for another coordinator, and did not go there. Ignored for others. */
  | { readonly kind: "job_stays"; readonly jobId: string }
  /** A new session. `busy`: slots taken by jobs that the Island continues. */
  | { readonly kind: "island_up"; readonly island: SchedulerIsland; readonly busy: number }
  /** New facts: cache, load, draining. Slots in use stay. Ignored for an Island that is not up. */
  | { readonly kind: "island_changed"; readonly island: SchedulerIsland }
  /** The Island gets no new jobs. Its slots are forgotten, its measurements are kept for its return. */
  | { readonly kind: "island_down"; readonly islandId: string }
  /** One job of the Island ended, and the Island confirmed it. */
  | { readonly kind: "slot_freed"; readonly islandId: string; readonly jobId: string }
  /** The Island has a slot for the job, and the one that it had for an earlier attempt of the same job is free. */
  | { readonly kind: "slot_superseded"; readonly islandId: string; readonly jobId: string }
  /** An Island refused, failed or lost a job, in a way that another Island may not. Comes before `slot_freed`. */
  | ({ readonly kind: "failure"; readonly islandId: string; readonly slug: string } & BreakerFailure)
  /** A run ended. `tokensPerSecond` is null for a Cargo without tokens and for a run that made none. */
  | {
      readonly kind: "measured";
      readonly islandId: string;
      readonly slug: string;
      readonly tokensPerSecond: number | null;
      readonly succeeded: boolean;
    }
  /** The Cargo with this slug is new, changed or gone. */
  | { readonly kind: "cargo_changed"; readonly slug: string }
  /** The time that `nextWakeMs` names has come. */
  | { readonly kind: "time_passed" };

export type SchedulerEffect =
  /** Give the job to the Island. The scheduler has taken the slot and removed the job from its queue. */
  | { readonly kind: "assign"; readonly jobId: string; readonly islandId: string }
  /** The Island let down several jobs in a row, of several Cargos: it gets none for a while. `null`: the quarantine is over. */
  | { readonly kind: "quarantine"; readonly islandId: string; readonly quarantine: Quarantine | null };

/** An Island that gets no jobs, and after `forMs` one at a time until one succeeds. */
export interface Quarantine {
  /** Let-downs since the last success. */
  readonly inARow: number;
  /** What is left of it; 0 while the Island is tried again. */
  readonly forMs: number;
  readonly lastCode: BreakerFailure["code"];
}
