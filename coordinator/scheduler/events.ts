import type { RuntimeType } from "../../shared/cargo.ts";
import type { OwnerPolicy } from "../../shared/owner-policy.ts";
import type { EngineModelReport, IslandState } from "../../shared/protocol/from-island.ts";
import type { StoredCurve } from "../store/islands.ts";
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
  /** Time that the link adds between the coordinator and the Island, there and back; null until it is measured. */
  readonly rttMs: number | null;
  /** Equal for Islands whose hardware should run jobs equally fast; if absent, unknown. */
  readonly hardwareClass?: string | undefined;
  /** Bytes of a language model that the host reads in 1 ms of generation, as the doctor measured; if absent, unknown. */
  readonly modelBytesPerMs?: number | undefined;
  /** Measured speed of the host's downloads; if absent, unknown. */
  readonly downloadBytesPerMs?: number | undefined;
}

/** The start of a prompt, up to the end of one message. */
export interface PromptPart {
  /**
   * Hash of the account, the Cargo and all messages up to this one: a 32-bit integer, which takes no memory of its own.
   * Two starts that have the same hash by chance only make a cost wrong.
   */
  readonly hash: number;
  /** Estimated number of tokens up to here. */
  readonly tokens: number;
  /** The same with the next message, if that is an answer; absent: it is not. */
  readonly withAnswer?: number;
}

/** How much work a job is, as far as its input says so. */
export interface JobSize {
  /** Estimated prompt tokens; for a Cargo without tokens, bytes of the input. */
  readonly input: number;
  /** Maximum number of output tokens; null for a Cargo without tokens. */
  readonly maxOutput: number | null;
  /** Starts of the prompt that an Island may have in its cache, the shortest first. */
  readonly promptParts: readonly PromptPart[];
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
  /** Absent if the input was not read yet; the mean of the Cargo's jobs then applies. */
  readonly size?: JobSize | undefined;
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
  /** The first output of the job's attempt on the Island arrived. */
  | { readonly kind: "first_output"; readonly islandId: string; readonly jobId: string }
  /** A run ended. Precedes `slot_freed`. The tokens are null if the Cargo has none, or if the run failed. */
  | {
      readonly kind: "run_ended";
      readonly islandId: string;
      readonly jobId: string;
      readonly slug: string;
      readonly succeeded: boolean;
      readonly tokens: RunTokens | null;
    }
  /** Curves that were stored before the Island's coordinator restarted. Ignored for Cargos with newer ones. */
  | { readonly kind: "curves_read"; readonly islandId: string; readonly curves: readonly StoredCurve[] }
  /** The Cargo was added, changed or removed. */
  | { readonly kind: "cargo_changed"; readonly slug: string }
  /** The time of `nextWakeMs` has come. */
  | { readonly kind: "time_passed" };

export type SchedulerEffect =
  /** The job starts on the Island. The scheduler has taken the slot and removed the job from its queue. */
  | { readonly kind: "assign"; readonly jobId: string; readonly islandId: string; readonly choice: Choice }
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

/** Numbers of tokens of a run, each limited to what its text permits. */
export interface RunTokens {
  readonly prompt: number;
  /** Prompt tokens that the Island says it had in its cache; null from agents that do not report them. */
  readonly cached: number | null;
  readonly output: number;
}

/** Why an Island was chosen. `cost`: its cost was lowest, or within 10 % of the lowest. `trial`: to measure it. */
export const CHOICE_REASONS = ["cost", "trial"] as const;
export interface Choice {
  readonly reason: (typeof CHOICE_REASONS)[number];
  readonly islandId: string;
  /** The Islands that were compared, the cheapest first; the chosen one is among them. */
  readonly candidates: readonly CandidateCost[];
}

/** The expected cost of a job on one Island and its terms, all in ms. See docs/internals/placement.md */
export interface CandidateCost {
  readonly islandId: string;
  readonly costMs: number;
  /** Until a slot is free: 0, because only Islands with a free slot are compared. */
  readonly waitMs: number;
  readonly loadMs: number;
  /** Reading the prompt, or the whole run of a Cargo without tokens. */
  readonly readMs: number;
  readonly writeMs: number;
  readonly rttMs: number;
  /** Delay that the job causes to the jobs that already run there. */
  readonly slowdownMs: number;
  /** Factor for the Island's failures, at least 1. */
  readonly risk: number;
  /** Prompt tokens that are expected to be in the Island's cache. */
  readonly cachedTokens: number;
}
