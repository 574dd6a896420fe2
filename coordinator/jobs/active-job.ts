import type { AttemptPhase } from "../../shared/attempt-phase.ts";
import type { JobError } from "../../shared/errors.ts";
import { isTerminal, nextState, type JobEvent, type JobState } from "../../shared/job-state.ts";
import type { PromptTokens } from "../../shared/output.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import type { TokenRates } from "../credits/pricing.ts";
import { type JobTerms, NO_TERMS } from "../credits/trust.ts";
import type { ActiveJobRecord, FeedItem, JobClass, JobEnding, JobInput, StatusItem } from "../store/jobs/job-store.ts";
import { type AttemptMeter, boundPrompt, DeliveredTokens } from "./attempts/attempt-meter.ts";
import { JobFeed, type Backlog, type Feed } from "./feed.ts";
import type { JobTraits } from "./job-traits.ts";
import { NO_OUTPUT, sizeOfStored } from "./output-size.ts";
import { UnstoredOutput } from "./writes/unstored-output.ts";

/** The Island that has an attempt, and the account of its owner, which earns the credits. */
export interface Assignee {
  readonly islandId: string;
  readonly accountId: string;
}

/** A failure that another Island must confirm. */
interface FinalFailure {
  readonly islandId: string;
  readonly error: JobError;
}

/** The state of an unfinished job that is not stored. The next owner receives it; a restart loses it. */
export interface HandoverState {
  readonly jobId: string;
  readonly failedOn: readonly Assignee[];
  readonly final: FinalFailure | null;
  readonly trace?: string | undefined;
}

/** A job from storage, with the handover state of its last owner. */
export type ReturningJob = ActiveJobRecord & { readonly handover?: HandoverState | undefined };

/** Members of `MutableJob` that readers of a job must not use: they change it. */
type Hidden = "delivered" | "feed" | "meter" | "unstored" | MethodsOf<MutableJob>;
type MethodsOf<T> = { [K in keyof T]: T[K] extends (...args: never[]) => unknown ? K : never }[keyof T];

/** A read-only view of a job until its end is durable. Only the commands of `JobRegistry` change it. */
export type ActiveJob = Readonly<Omit<MutableJob, Hidden>> & {
  readonly feed: Feed;
  readonly meter: Pick<AttemptMeter, "tokens" | "tokensPerSecond"> | null;
};

const NONE: ReadonlySet<string> = new Set();
const NO_FAILURES: readonly Assignee[] = [];

/** The state behind an {@link ActiveJob}. Only `JobRegistry` and its writes change it. */
export class MutableJob {
  readonly id: string;
  readonly accountId: string;
  /** Id of the job's batch; null for a job that is not part of a batch. */
  readonly batchId: string | null;
  readonly slug: string;
  readonly jobClass: JobClass;
  /** Weight of the account in the fair share; null for the default. */
  readonly share: number | null;
  readonly priority: number;
  /** The held credits. */
  readonly priceMicro: number;
  /** Rates of the charge at the job's submission; null for a price per job. */
  readonly rates: TokenRates | null;
  /** True if a client waits on a connection and cannot read the job after losing it. */
  readonly isClientBound: boolean;
  readonly terms: JobTerms;
  readonly feed: JobFeed;
  /** Islands that lost or failed the job. They are chosen only if no other Island fits. */
  avoidIslands: ReadonlySet<string> = NONE;
  /** Other accounts with several Islands that failed the job. All Islands of these accounts are avoided. */
  avoidAccounts: ReadonlySet<string> = NONE;
  /** Islands that failed the job, in order of failure. */
  failedOn: readonly Assignee[] = NO_FAILURES;
  #state: JobState;
  /** Number of attempts started, including refused ones. It is also the number of the latest attempt. */
  attempt: number;
  /** Number of attempts that an Island refused. They do not count against the maximum of attempts. */
  refusals: number;
  assignee: Assignee | null = null;
  /**
   * The Island that earns: the last Island that delivered output, else the one with the job. Null if a restart lost it.
   */
  earner: Assignee | null = null;
  /**
   * Measures the speed of the attempt. Null before the first attempt, and for attempts from before the last restart.
   */
  meter: AttemptMeter | null = null;
  /** Prompt tokens, in total and read so far; null until an Island reports them. */
  prompt: PromptTokens | null = null;
  /** The first report that no Island can do the job, which fails the job once another Island confirms it. */
  final: FinalFailure | null = null;
  /** W3C `traceparent` of the job's span, kept across owners; null for a job that is not traced. */
  trace: string | null = null;
  /** True while the coordinator checks the result, for which the Island does not answer. */
  isResultChecked = false;
  /** True if the job failed because it exceeded its maximum output. */
  isOverrun = false;
  readonly delivered = new DeliveredTokens();
  /** Time at which the Island started the current attempt, in ms since the epoch; null until then. */
  startedAtMs: number | null;
  readonly createdAtMs: number;
  endedAtMs: number | null = null;
  /** End of the wait limit, in ms since the epoch. A lost attempt postpones it. */
  waitDeadlineMs: number;
  /** Time since which the job competes for Islands: its creation, or for a job of a batch its quota slot. */
  waitsSinceMs: number;
  /** True while the Island that was lost with the last attempt may return and continue that attempt. */
  mayRegain = false;
  /** The Island that was lost with the last attempt; null if the job lost none since it was restored. */
  lostIslandId: string | null = null;
  /** The last attempt that a lost Island continued; 0 for none. Each attempt can be regained once. */
  regainedAttempt = 0;
  isAccepted = false;
  /** True once the current attempt has made output or progress. */
  hasProgress = false;
  /** Time of the attempt's last activity, by `Clock.monotonicMs`. The phase limit counts from this time. */
  lastActivityMs = 0;
  /** Work counter that the Island last reported for the attempt; null before the first report. */
  workCount: number | null = null;
  /** Number of the last frame of the current attempt that was received; 0 for none. */
  lastSeq = 0;
  /** Number of the last frame of the current attempt that is durable; 0 for none. */
  durableSeq = 0;
  /** Resolves when a new job is durable or was withdrawn; null once that is decided. The job is invisible before. */
  stored: Promise<void> | null = null;
  /** Settles once all writes that wait for {@link stored} have started; null if none waits. */
  waitingWrites: Promise<unknown> | null = null;
  /** Passes the submission to the store; null unless that waits for a short job to end. */
  storeNow: (() => void) | null = null;
  /** True if the new job was not stored. Pending writes of the job then resolve without effect. */
  isWithdrawn = false;
  /** The end of a job that ended before it was stored; else null. */
  ending: JobEnding | null = null;
  /**
   * Resolves when the current attempt is durable; null once it is, and for an attempt that is stored with its job. None
   * of the attempt's frames is applied before.
   */
  assigned: Promise<void> | null = null;
  /** Resolves when the last state change and all earlier ones are durable; null before the first change. */
  moved: Promise<void> | null = null;
  /** Resolves when the end is durable; null before the end. */
  settled: Promise<void> | null = null;
  /** True if the job has a slot of the account's quota of unfinished jobs. Only jobs of batches wait for one. */
  holdsQuota = false;
  /** True during a transfer to another coordinator. The job is not dispatched then. */
  isMoving = false;
  /** True if another coordinator has the job. Pending writes of the job then never resolve. */
  isDropped = false;
  #dropped: PromiseWithResolvers<void> | null = null;
  /** The input until the first scheduling decision, so that a job that starts at once does not read it from storage. */
  input: JobInput | null = null;
  /** Facts from the job's input; null until the input has been read. */
  traits: JobTraits | null = null;
  /** The version of the Cargo that the job runs. Null if the Cargo was not available at the last restart. */
  cargo: CatalogEntry | null = null;
  outputBytes: number;
  /** Bytes of output that are in memory, or are loaded into memory when the feed is read. */
  memoryBytes: number;
  /** The part of `memoryBytes` that the current attempt made. */
  attemptMemoryBytes = 0;
  readonly unstored = new UnstoredOutput();
  /** Number of writes of output that are not durable yet. */
  appendsInFlight = 0;
  /** Time of the first output since the last restart, by the monotonic clock; Infinity before. */
  firstOutputMs = Infinity;

  constructor(record: ActiveJobRecord, backlog: Backlog | null = null) {
    this.id = record.id;
    this.accountId = record.accountId;
    this.batchId = record.batchId;
    this.slug = record.slug;
    this.jobClass = record.jobClass;
    this.share = record.share;
    this.priority = record.priority;
    this.priceMicro = record.priceMicro;
    this.rates = record.rates;
    this.isClientBound = record.isClientBound;
    this.terms = record.terms ?? NO_TERMS;
    this.waitDeadlineMs = record.waitDeadlineMs;
    this.createdAtMs = record.createdAtMs;
    this.waitsSinceMs = record.createdAtMs;
    // Storage lacks the reason why the attempt ended. An Island presents the attempt only if it still has it.
    this.mayRegain = record.state === "pending" && record.attempt > 0;
    this.#state = record.state;
    this.attempt = record.attempt;
    this.refusals = record.refusals;
    this.startedAtMs = record.startedAtMs;
    this.feed = backlog === null ? new JobFeed(record.id) : JobFeed.restored(record.id, backlog);
    const stored = backlog === null ? NO_OUTPUT : sizeOfStored(backlog.progress);
    this.outputBytes = stored.bytes;
    this.memoryBytes = stored.memoryBytes;
    if (stored.bytes === 0) this.announce("pending");
  }

  get state(): JobState {
    return this.#state;
  }

  get hasEnded(): boolean {
    return isTerminal(this.#state);
  }

  /** The only account whose Islands may run the job; null for any. */
  get onlyIslandsOf(): string | null {
    const { trust, reader } = this.terms;
    return reader ?? (trust === "own" ? this.accountId : null);
  }

  /** Id of the Island that has the job; null while the job is pending. */
  get islandId(): string | null {
    return this.assignee?.islandId ?? null;
  }

  /** The step of the attempt that the Island must do next; null while no Island has the job. */
  get phase(): AttemptPhase | null {
    if (this.#state === "queued") return this.isAccepted ? "start" : "accept";
    if (this.#state === "running") return this.hasProgress ? "silence" : "first_output";
    return null;
  }

  /** Changes the state. @throws {IllegalTransitionError} if `event` is not possible in this state. */
  apply(event: JobEvent): void {
    this.#state = nextState(this.#state, event);
  }

  /** Begins a new attempt on an Island. @throws {IllegalTransitionError} unless the job is pending. */
  assign(attempt: number, assignee: Assignee, meter: AttemptMeter): void {
    this.apply("assign");
    this.attempt = attempt;
    // Prompt tokens of an attempt without output are not charged: the next attempt reads the prompt again.
    if (!this.feed.hasOutput) this.prompt = null;
    this.lastSeq = 0;
    this.durableSeq = 0;
    this.#beginAttempt(assignee, meter);
  }

  /** Continues the last attempt with its output so far. @throws {IllegalTransitionError} unless the job is pending. */
  regain(assignee: Assignee): void {
    this.apply("regain");
    this.regainedAttempt = this.attempt;
    this.#beginAttempt(assignee, null);
  }

  /** Marks the attempt as running. @throws {IllegalTransitionError} unless the job is queued. */
  start(atMs: number): void {
    this.apply("start");
    this.startedAtMs = atMs;
    this.unstored.start(atMs);
    this.announce("running");
  }

  /**
   * Ends the attempt, so that the job is pending. `mayReturn`: the Island is away, and may return with the attempt.
   * @throws {IllegalTransitionError} while no Island has the job.
   */
  lose(mayReturn: boolean): void {
    this.apply("lose");
    this.mayRegain = mayReturn && this.regainedAttempt !== this.attempt;
    this.lostIslandId = this.islandId;
    this.assignee = null;
    this.startedAtMs = null;
    this.announce("pending");
  }

  /** Adds the Island that has the job to the Islands that failed it. */
  avoidAssignee(): void {
    if (this.assignee !== null) this.#avoid(this.assignee);
  }

  applyHandover({ failedOn, final, trace }: HandoverState): void {
    for (const assignee of failedOn) this.#avoid(assignee);
    this.final = final;
    this.trace = trace ?? null;
  }

  #avoid({ islandId, accountId }: Assignee): void {
    if (this.avoidIslands.has(islandId)) return;
    this.avoidIslands = new Set(this.avoidIslands).add(islandId);
    const hasFailedBefore = accountId !== this.accountId && this.failedOn.some((each) => each.accountId === accountId);
    if (hasFailedBefore) this.avoidAccounts = new Set(this.avoidAccounts).add(accountId);
    this.failedOn = [...this.failedOn, { islandId, accountId }];
  }

  /** Records the number of prompt tokens that were read, which never decreases. Returns true if it grew. */
  notePrompt({ total, done }: PromptTokens): boolean {
    const known = this.prompt?.done ?? 0;
    const bounded = boundPrompt(total, this.traits);
    this.prompt = { total: bounded, done: Math.max(known, Math.min(done, bounded)) };
    this.feed.notePrompt(bounded);
    return this.prompt.done > known;
  }

  #beginAttempt(assignee: Assignee, meter: AttemptMeter | null): void {
    this.assignee = assignee;
    this.meter = meter;
    this.noteEarner();
    this.mayRegain = false;
    this.isAccepted = false;
    this.hasProgress = false;
    this.workCount = null;
    this.announce("queued");
  }

  /** Marks the job as owned by another coordinator. This coordinator no longer changes it. */
  drop(): void {
    this.isDropped = true;
    this.#dropped?.resolve();
  }

  /** Resolves when another coordinator has the job. */
  untilDropped(): Promise<void> {
    this.#dropped ??= Promise.withResolvers();
    if (this.isDropped) this.#dropped.resolve();
    return this.#dropped.promise;
  }

  /** Makes the Island that has the job the earner, unless another attempt delivered output before. */
  noteEarner(): void {
    if (!this.feed.hasOutput || this.feed.outputAttempt === this.attempt) this.earner = this.assignee;
  }

  /** Adds a status item to the feed. It is stored with the next output. */
  announce(state: string): void {
    const status: StatusItem = { type: "status", state };
    this.unstored.announce(status);
    this.feed.push([status], this.attempt);
  }

  /** Makes output visible to readers at once. The caller must store it. */
  publish(items: readonly FeedItem[]): void {
    this.feed.push(items, this.attempt);
  }
}
