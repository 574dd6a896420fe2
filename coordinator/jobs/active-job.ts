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

/** The Island that has an attempt, and its owner's account, which earns. */
export interface Assignee {
  readonly islandId: string;
  readonly accountId: string;
}

/** A failure that another Island has to confirm. */
interface FinalFailure {
  readonly islandId: string;
  readonly error: JobError;
}

/** What is known of an unfinished job and not stored: who let it down, who called it impossible, and its trace. A restart forgets it. */
export interface HandoverState {
  readonly jobId: string;
  /** In the order in which they did. */
  readonly failedOn: readonly Assignee[];
  readonly final: FinalFailure | null;
  /** As W3C `traceparent`, of a job that is traced. */
  readonly trace?: string | undefined;
}

/** A job that comes from storage, with what its last owner still knew of it. */
export type ReturningJob = ActiveJobRecord & { readonly handover?: HandoverState | undefined };

/** What other code may not see: it would change the job. */
type Hidden = "delivered" | "feed" | "meter" | "unstored" | MethodsOf<MutableJob>;
type MethodsOf<T> = { [K in keyof T]: T[K] extends (...args: never[]) => unknown ? K : never }[keyof T];

/** A job that has not ended, or whose end is not durable yet. A view: only the commands of `JobRegistry` change it. */
export type ActiveJob = Readonly<Omit<MutableJob, Hidden>> & {
  readonly feed: Feed;
  readonly meter: Pick<AttemptMeter, "tokensPerSecond"> | null;
};

/** Shared by the jobs that avoid no Island. */
const NONE: ReadonlySet<string> = new Set();
const NOBODY: readonly Assignee[] = [];

/** The state behind an {@link ActiveJob}. It never leaves this folder; `JobRegistry` and its writes change it. */
export class MutableJob {
  readonly id: string;
  readonly accountId: string;
  /** Null for a job that was submitted alone. */
  readonly batchId: string | null;
  readonly slug: string;
  readonly jobClass: JobClass;
  /** The account's weight in the fair share; null: the default. */
  readonly share: number | null;
  readonly priority: number;
  readonly priceMicro: number;
  /** A client waits for it on a connection, and cannot read it once that is lost. */
  readonly isClientBound: boolean;
  readonly feed: JobFeed;
  /** Islands that lost or failed the job. They are asked again only if no other one fits. */
  avoidIslands: ReadonlySet<string> = NONE;
  /** Other accounts of which several Islands let the job down: all their Islands are avoided, also those that come later. */
  avoidAccounts: ReadonlySet<string> = NONE;
  /** Islands that let the job down, in that order. */
  failedOn: readonly Assignee[] = NOBODY;
  #state: JobState;
  /** Attempts begun, with those that were refused; the number of the present one while the job is queued or running. */
  attempt: number;
  /** Attempts that an Island refused. They are no tries. */
  refusals: number;
  assignee: Assignee | null = null;
  /** Who earns what is charged: who delivered last; before output, who has the job. Null when that is not known since a restart. */
  earner: Assignee | null = null;
  /** Of the present attempt; null before the first, and for one that began before the last restart. */
  meter: AttemptMeter | null = null;
  prompt: PromptTokens | null = null;
  /** Null until an Island says that no Island can do the job. It is believed when another one says so too. */
  final: FinalFailure | null = null;
  /** The job's span as W3C `traceparent`, also of its last owner; null for a job that is not traced. */
  trace: string | null = null;
  /** The job failed as its Island made more output than the job may have. */
  isOverrun = false;
  readonly delivered = new DeliveredTokens();
  /** When the present attempt began; null before. */
  startedAtMs: number | null;
  readonly createdAtMs: number;
  /** When the job ended; null before. */
  endedAtMs: number | null = null;
  /** When the job has waited too long. Later than its wait limit once it has lost an attempt. */
  waitDeadlineMs: number;
  /** When the job began to compete for Islands: a job of a batch when it got its place, any other when it was made. */
  waitsSinceMs: number;
  /** The Island that was lost with the last attempt may continue it, as no other attempt has begun. */
  mayRegain = false;
  /** That Island; null for a job that lost no attempt since it was restored. */
  lostIslandId: string | null = null;
  /** The last attempt that its Island was lost with and continued; 0 for none. An attempt is regained once. */
  regainedAttempt = 0;
  /** The Island said that it has the present attempt. */
  isAccepted = false;
  /** The present attempt has given output, or progress. */
  hasSpoken = false;
  /** Last sign of life of the present attempt, by `Clock.monotonicMs`. Its phase counts from here. */
  lastSignMs = 0;
  /** The progress that the Island reported last of the present attempt, which grows as the work does; null before. */
  workCount: number | null = null;
  /** Last numbered frame received of the present attempt; 0 for none. */
  lastSeq = 0;
  /** Last numbered frame of the present attempt that is durable; 0 for none. */
  durableSeq = 0;
  /** Resolves when the job itself is durable; null once it is. Nobody hears of the job before. */
  stored: Promise<void> | null = null;
  /** An attempt that begins now is stored with the job. */
  isOffered = false;
  /** Resolves when the present attempt is durable; null once it is. Nothing of an attempt is published before. */
  assigned: Promise<void> | null = null;
  /** Resolves when the last move of the job between states is durable, and so all before it; null before the first. */
  moved: Promise<void> | null = null;
  /** Resolves when the job's end is durable; null before the end. */
  settled: Promise<void> | null = null;
  /** Counts against the account's limit of unfinished jobs. False for a job of a batch that waits for a place. */
  hasPlace = false;
  /** It is being given to another coordinator, and is not dispatched meanwhile. */
  isMoving = false;
  /** Another coordinator has the job by now. It is not in the registry any more, and what waits for its writes never goes on. */
  isDropped = false;
  #dropped: PromiseWithResolvers<void> | null = null;
  /** Kept from submission to the first scheduling decision only, so that an idle network never reads it back. */
  input: JobInput | null = null;
  /** Null until the input was read. */
  traits: JobTraits | null = null;
  /** The Cargo as it was when the job was accepted; the job runs that version. Null if it was gone at the last restart. */
  cargo: CatalogEntry | null = null;
  /** Output of all attempts, in bytes. */
  outputBytes: number;
  /** The part of it that is in memory, or comes there when somebody reads the feed. */
  memoryBytes: number;
  /** The part of that which the present attempt made. */
  attemptMemoryBytes = 0;
  readonly unstored = new UnstoredOutput();
  /** Writes of output that are not durable yet. */
  appendsInFlight = 0;
  /** When the job gave output first, by the monotonic clock; Infinity before, and for output from before a restart. */
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
    // Why the attempt is over is not stored; one that its Island does not have any more is not claimed.
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

  /** The Island that has the present attempt; null while the job is pending. */
  get islandId(): string | null {
    return this.assignee?.islandId ?? null;
  }

  /** What the Island that has the present attempt has yet to do; null while no Island has it. */
  get phase(): AttemptPhase | null {
    if (this.#state === "queued") return this.isAccepted ? "start" : "accept";
    if (this.#state === "running") return this.hasSpoken ? "silence" : "first_output";
    return null;
  }

  /** @throws {IllegalTransitionError} */
  apply(event: JobEvent): void {
    this.#state = nextState(this.#state, event);
  }

  /** Begins attempt number `attempt`. @throws {IllegalTransitionError} unless the job is pending. */
  assign(attempt: number, assignee: Assignee, meter: AttemptMeter): void {
    this.apply("assign");
    this.attempt = attempt;
    // What an attempt without output read is not paid: the next one reads it again.
    if (!this.feed.hasOutput) this.prompt = null;
    this.lastSeq = 0;
    this.durableSeq = 0;
    this.#beginAttempt(assignee, meter);
  }

  /** The last attempt goes on, with its output so far. @throws {IllegalTransitionError} unless the job is pending. */
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

  /**
   * Ends the present attempt, not the job. @throws {IllegalTransitionError} unless an Island has the job.
   * @param mayReturn the Island is away, and may come back with the attempt.
   */
  lose(mayReturn: boolean): void {
    this.apply("lose");
    this.mayRegain = mayReturn && this.regainedAttempt !== this.attempt;
    this.lostIslandId = this.islandId;
    this.assignee = null;
    this.startedAtMs = null;
    this.announce("pending");
  }

  /** The Island that has the job let it down: the next attempt is another's, if one can run it. */
  avoidAssignee(): void {
    if (this.assignee !== null) this.#avoid(this.assignee);
  }

  /** What its last owner knew of it. */
  remember({ failedOn, final, trace }: HandoverState): void {
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

  /** Learns how much of the prompt is read. Bounded by the prompt; it never shrinks. True if more of it is read than was known. */
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
    this.hasSpoken = false;
    this.workCount = null;
    this.announce("queued");
  }

  /** Another coordinator has the job: nothing here changes any more. */
  drop(): void {
    this.isDropped = true;
    this.#dropped?.resolve();
  }

  /** Resolves when the job is dropped. */
  untilDropped(): Promise<void> {
    this.#dropped ??= Promise.withResolvers();
    if (this.isDropped) this.#dropped.resolve();
    return this.#dropped.promise;
  }

  /** The Island that has the job now earns, unless another attempt delivered before it. */
  noteEarner(): void {
    if (!this.feed.hasOutput || this.feed.outputAttempt === this.attempt) this.earner = this.assignee;
  }

  /** Adds a state to the feed. Readers see it at once. */
  announce(state: string): void {
    const status: StatusItem = { type: "status", state };
    this.unstored.announce(status);
    this.feed.push([status], this.attempt);
  }

  /** Adds output to the feed, in the form in which it stays in memory. Readers see it at once; the caller stores it. */
  say(items: readonly FeedItem[]): void {
    this.feed.push(items, this.attempt);
  }
}
