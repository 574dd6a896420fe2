import type { JobError } from "../../shared/errors.ts";
import type { AttemptPhase } from "../../shared/attempt-phase.ts";
import type { JobState } from "../../shared/job-state.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import type { JobClass, JobInput } from "../store/jobs/job-store.ts";
import type { AttemptMeter } from "./attempts/attempt-meter.ts";
import type { Feed } from "./feed.ts";
import type { JobTraits } from "./job-traits.ts";

/** The Island that has an attempt, and its owner's account, which earns. */
export interface Assignee {
  readonly islandId: string;
  readonly accountId: string;
}

/** A failure that another Island has to confirm. */
export interface FinalFailure {
  readonly islandId: string;
  readonly error: JobError;
}

/** A job that has not ended, or whose end is not durable yet. A view: only the commands of `JobRegistry` change it. */
export interface ActiveJob {
  readonly id: string;
  readonly accountId: string;
  /** Null for a job that was submitted alone. */
  readonly batchId: string | null;
  readonly slug: string;
  readonly jobClass: JobClass;
  /** The account's weight in the fair share; null: the default. */
  readonly share: number | null;
  readonly priority: number;
  /** A client waits for it on a connection, and cannot read it once that is lost. */
  readonly isClientBound: boolean;
  readonly state: JobState;
  readonly hasEnded: boolean;
  readonly feed: Feed;
  readonly createdAtMs: number;
  /** When the job ended; null before. */
  readonly endedAtMs: number | null;
  /** Who earns what is charged; null where that is not known. */
  readonly earner: { readonly accountId: string } | null;
  /** When the job began to compete for Islands: a job of a batch when it got its place, any other when it was made. */
  readonly waitsSinceMs: number;
  /** When the job has waited too long. Later than its wait limit once it has lost an attempt. */
  readonly waitDeadlineMs: number;
  /** When the job gave output first, by the monotonic clock; Infinity before, and for output from before a restart. */
  readonly firstOutputMs: number;
  /** Counts against the account's limit of unfinished jobs. False for a job of a batch that waits for a place. */
  readonly hasPlace: boolean;
  /** When the present attempt began; null before. */
  readonly startedAtMs: number | null;
  /** Attempts begun, with those that were refused; the number of the present one while the job is queued or running. */
  readonly attempt: number;
  /** Attempts that an Island refused. They are no tries. */
  readonly refusals: number;
  /** The Island that has the present attempt; null while the job is pending. */
  readonly islandId: string | null;
  /** Of the present attempt; null before the first, and for one that began before the last restart. */
  readonly meter: Pick<AttemptMeter, "tokensPerSecond"> | null;
  /** Null until an Island says that no Island can do the job. It is believed when another one says so too. */
  readonly final: FinalFailure | null;
  /** The job's span as W3C `traceparent`, also of its last owner; null for a job that is not traced. */
  readonly trace: string | null;
  /** The job failed as its Island made more output than the job may have. */
  readonly isOverrun: boolean;
  /** The Island that was lost with the last attempt may continue it, as no other attempt has begun. */
  readonly mayRegain: boolean;
  /** That Island; null for a job that lost no attempt since it was restored. */
  readonly lostIslandId: string | null;
  /** What the Island that has the present attempt has yet to do; null while no Island has it. */
  readonly phase: AttemptPhase | null;
  /** Last sign of life of the present attempt, by `Clock.monotonicMs`. Its phase counts from here. */
  readonly lastSignMs: number;
  /** Islands that lost or failed the job. They are asked again only if no other one fits. */
  readonly avoidIslands: ReadonlySet<string>;
  /** Other accounts of which several Islands let the job down: all their Islands are avoided, also those that come later. */
  readonly avoidAccounts: ReadonlySet<string>;
  /** Last numbered frame received of the present attempt; 0 for none. */
  readonly lastSeq: number;
  /** Last numbered frame of the present attempt that is durable; 0 for none. */
  readonly durableSeq: number;
  /** Resolves when the job itself is durable; null once it is. Nobody hears of the job before. */
  readonly stored: Promise<void> | null;
  /** Resolves when the present attempt is durable; null once it is. Nothing of an attempt is published before. */
  readonly assigned: Promise<void> | null;
  /** Resolves when the last move of the job between states is durable, and so all before it; null before the first. */
  readonly moved: Promise<void> | null;
  /** Resolves when the job's end is durable; null before the end. */
  readonly settled: Promise<void> | null;
  /** Another coordinator has the job by now. It is not in the registry any more, and what waits for its writes never goes on. */
  readonly isDropped: boolean;
  /** Kept from submission to the first scheduling decision only, so that an idle network never reads it back. */
  readonly input: JobInput | null;
  /** Null until the input was read. */
  readonly traits: JobTraits | null;
  /** The Cargo as it was when the job was accepted; the job runs that version. Null if it was gone at the last restart. */
  readonly cargo: CatalogEntry | null;
}
