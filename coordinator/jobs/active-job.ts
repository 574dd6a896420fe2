import type { AttemptPhase } from "../../shared/attempt-phase.ts";
import type { JobError } from "../../shared/errors.ts";
import { isTerminal, nextState, type JobEvent, type JobState } from "../../shared/job-state.ts";
import type { PromptTokens } from "../../shared/output.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import type { ActiveJobRecord, FeedItem, JobClass, JobInput, StatusItem } from "../store/jobs/job-store.ts";
import { type AttemptMeter, boundPrompt, DeliveredTokens } from "./attempts/attempt-meter.ts";
import { JobFeed, type Backlog, type Feed } from "./feed.ts";
import type { JobTraits } from "./job-traits.ts";
import { NO_OUTPUT, sizeOfStored } from "./output-size.ts";
import { UnstoredOutput } from "./writes/unstored-output.ts";

/** The Island that has an attempt, and the account of its owner, which earns. */
export interface Assignee {
  readonly islandId: string;
  readonly accountId: string;
}

/** A failure that another Island must confirm. */
interface FinalFailure {
  readonly islandId: string;
  readonly error: JobError;
}

/** The state of an unfinished job that is not stored, and lost on a restart. */
export interface HandoverState {
  readonly jobId: string;
  readonly failedOn: readonly Assignee[];
  readonly final: FinalFailure | null;
  readonly trace?: string | undefined;
}

/** A job from storage, with the handover state of its last owner. */
export type ReturningJob = ActiveJobRecord & { readonly handover?: HandoverState | undefined };

/** Members that would change the job. */
type Hidden = "delivered" | "feed" | "meter" | "unstored" | MethodsOf<MutableJob>;
type MethodsOf<T> = { [K in keyof T]: T[K] extends (...args: never[]) => unknown ? K : never }[keyof T];

/** A read-only view of a job until its end is durable. Only the commands of `JobRegistry` change it. */
export type ActiveJob = Readonly<Omit<MutableJob, Hidden>> & {
  readonly feed: Feed;
  readonly meter: Pick<AttemptMeter, "tokensPerSecond"> | null;
};

const NONE: ReadonlySet<string> = new Set();
const NO_FAILURES: readonly Assignee[] = [];

/** The state behind an {@link ActiveJob}. Only `JobRegistry` and its writes change it. */
export class MutableJob {
  readonly id: string;
  readonly accountId: string;
  /** Null for a job outside of a batch. */
  readonly batchId: string | null;
  readonly slug: string;
  readonly jobClass: JobClass;
  /** Weight of the account in the fair share; null: the default. */
  readonly share: number | null;
  readonly priority: number;
  readonly priceMicro: number;
  /** True if a client waits on a connection and cannot read the job after losing it. */
  readonly isClientBound: boolean;
  readonly feed: JobFeed;
  /** Islands that lost or failed the job. They are chosen only if no other Island fits. */
  avoidIslands: ReadonlySet<string> = NONE;
  /** Other accounts with several Islands that failed the job. All their Islands are avoided, including new ones. */
  avoidAccounts: ReadonlySet<string> = NONE;
  /** Islands that failed the job, in order of failure. */
  failedOn: readonly Assignee[] = NO_FAILURES;
  #state: JobState;
  /** Attempts begun, including refused ones; while the job is queued or running, the number of the present one. */
  attempt: number;
  /** Attempts that an Island refused. They do not count against the maximum. */
  refusals: number;
  assignee: Assignee | null = null;
  /** The earning Island: the last that delivered output, else the one with the job. Null if unknown since a restart. */
  earner: Assignee | null = null;
  /** Null before the first attempt, and for an attempt that began before the last restart. */
  meter: AttemptMeter | null = null;
  prompt: PromptTokens | null = null;
  /** The first report that no Island can do the job. Accepted once another Island confirms it. */
  final: FinalFailure | null = null;
  /** W3C `traceparent` of the job's span, kept across owners; null for a job that is not traced. */
  trace: string | null = null;
  /** True if the job failed because it made more output than it may have. */
  isOverrun = false;
  readonly delivered = new DeliveredTokens();
  /** Start of the present attempt; null before. */
  startedAtMs: number | null;
  readonly createdAtMs: number;
  endedAtMs: number | null = null;
  /** Deadline of the wait, later than the wait limit once the job has lost an attempt. */
  waitDeadlineMs: number;
  /** Start of the competition: when a job of a batch got its quota slot, or when any other job was created. */
  waitsSinceMs: number;
  /** True if the Island that was lost with the last attempt may continue it, as no other attempt has begun. */
  mayRegain = false;
  /** The Island that was lost with the last attempt; null if the job lost none since it was restored. */
  lostIslandId: string | null = null;
  /** The last regained attempt; 0 for none. Each is regained at most once. */
  regainedAttempt = 0;
  isAccepted = false;
  /** True once the present attempt has made output or progress. */
  hasProgress = false;
  /** Last activity of the present attempt, by `Clock.monotonicMs`. The limit of its phase counts from here. */
  lastActivityMs = 0;
  /** Last reported progress of the present attempt, which grows with the work; null before. */
  workCount: number | null = null;
  /** Last numbered frame of the present attempt that was received; 0 for none. */
  lastSeq = 0;
  /** Last numbered frame of the present attempt that is durable; 0 for none. */
  durableSeq = 0;
  /** Resolves when the job itself is durable; null once it is. The job is not visible before. */
  stored: Promise<void> | null = null;
  /** True while a new attempt is stored with the job. */
  isOffered = false;
  /** Resolves when the present attempt is durable; null once it is. None of its output is published before. */
  assigned: Promise<void> | null = null;
  /** Resolves when the last state change is durable, and so all earlier ones; null before the first. */
  moved: Promise<void> | null = null;
  /** Resolves when the end is durable; null before the end. */
  settled: Promise<void> | null = null;
  /** False for a job of a batch that waits for a slot of the account's quota of unfinished jobs. */
  holdsQuota = false;
  /** True during a transfer to another coordinator. The job is not dispatched then. */
  isMoving = false;
  /** True if another coordinator has the job. Its pending writes never resolve. */
  isDropped = false;
  #dropped: PromiseWithResolvers<void> | null = null;
  /** The input until the first scheduling decision, so that an idle network never reads it back. */
  input: JobInput | null = null;
  /** Null until the input has been read. */
  traits: JobTraits | null = null;
  /** The Cargo that the job was accepted for and runs. Null if it was gone at the last restart. */
  cargo: CatalogEntry | null = null;
  /** Output of all attempts. */
  outputBytes: number;
  /** The part of the output that is in memory, or is loaded when the feed is read. */
  memoryBytes: number;
  /** The part of `memoryBytes` that the present attempt made. */
  attemptMemoryBytes = 0;
  readonly unstored = new UnstoredOutput();
  /** Writes of output that are not durable yet. */
  appendsInFlight = 0;
  /** First output, by the monotonic clock; Infinity before, and for output from before a restart. */
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
    this.isClientBound = record.isClientBound;
    this.waitDeadlineMs = record.waitDeadlineMs;
    this.createdAtMs = record.createdAtMs;
    this.waitsSinceMs = record.createdAtMs;
    // The reason for the end of the attempt is not stored. The Island presents it only if it still has it.
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

  /** Null while the job is pending. */
  get islandId(): string | null {
    return this.assignee?.islandId ?? null;
  }

  /** The step that the Island has yet to do; null while no Island has the job. */
  get phase(): AttemptPhase | null {
    if (this.#state === "queued") return this.isAccepted ? "start" : "accept";
    if (this.#state === "running") return this.hasProgress ? "silence" : "first_output";
    return null;
  }

  /** @throws {IllegalTransitionError} */
  apply(event: JobEvent): void {
    this.#state = nextState(this.#state, event);
  }

  /** @throws {IllegalTransitionError} unless the job is pending. */
  assign(attempt: number, assignee: Assignee, meter: AttemptMeter): void {
    this.apply("assign");
    this.attempt = attempt;
    // Prompt tokens of an attempt without output are not paid: the next attempt reads the prompt again.
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

  /** @throws {IllegalTransitionError} unless the job is queued. */
  start(atMs: number): void {
    this.apply("start");
    this.startedAtMs = atMs;
    this.unstored.start(atMs);
    this.announce("running");
  }

  /** Ends the attempt, not the job. `mayReturn`: the Island is away. @throws {IllegalTransitionError} */
  lose(mayReturn: boolean): void {
    this.apply("lose");
    this.mayRegain = mayReturn && this.regainedAttempt !== this.attempt;
    this.lostIslandId = this.islandId;
    this.assignee = null;
    this.startedAtMs = null;
    this.announce("pending");
  }

  /** Avoids the Island that has the job and failed it. */
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
    const isAgain = accountId !== this.accountId && this.failedOn.some((each) => each.accountId === accountId);
    if (isAgain) this.avoidAccounts = new Set(this.avoidAccounts).add(accountId);
    this.failedOn = [...this.failedOn, { islandId, accountId }];
  }

  /** Records how much of the prompt was read, at most all and never less than before. Returns true for progress. */
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

  /** Marks the job as owned by another coordinator. It no longer changes here. */
  drop(): void {
    this.isDropped = true;
    this.#dropped?.resolve();
  }

  untilDropped(): Promise<void> {
    this.#dropped ??= Promise.withResolvers();
    if (this.isDropped) this.#dropped.resolve();
    return this.#dropped.promise;
  }

  /** Makes the present Island the earner, unless another attempt delivered output before. */
  noteEarner(): void {
    if (!this.feed.hasOutput || this.feed.outputAttempt === this.attempt) this.earner = this.assignee;
  }

  announce(state: string): void {
    const status: StatusItem = { type: "status", state };
    this.unstored.announce(status);
    this.feed.push([status], this.attempt);
  }

  /** Makes output visible to readers at once. The caller stores it. */
  publish(items: readonly FeedItem[]): void {
    this.feed.push(items, this.attempt);
  }
}
