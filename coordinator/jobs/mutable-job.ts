import type { AttemptPhase } from "../../shared/attempt-phase.ts";
import { isTerminal, nextState, type JobEvent, type JobState } from "../../shared/job-state.ts";
import type { PromptTokens } from "../../shared/output.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import type { ActiveJobRecord, FeedItem, JobClass, JobInput, StatusItem } from "../store/jobs/job-store.ts";
import type { ActiveJob, Assignee, FinalFailure } from "./active-job.ts";
import type { JobMemory } from "./job-memory.ts";
import type { AttemptMeter } from "./attempts/attempt-meter.ts";
import { boundPrompt, DeliveredTokens } from "./delivered-tokens.ts";
import { JobFeed, type Backlog } from "./feed.ts";
import type { JobTraits } from "./job-traits.ts";
import { NO_OUTPUT, sizeOfStored } from "./output-size.ts";
import { UnstoredOutput } from "./writes/unstored-output.ts";

/** Shared by the jobs that avoid no Island. */
const NONE: ReadonlySet<string> = new Set();
const NOBODY: readonly Assignee[] = [];

/** The state behind an {@link ActiveJob}. It never leaves this folder; `ActiveJobs`, `JobRegistry` and `JobAttempts` change it. */
export class MutableJob implements ActiveJob {
  readonly id: string;
  readonly accountId: string;
  readonly batchId: string | null;
  readonly slug: string;
  readonly jobClass: JobClass;
  readonly share: number | null;
  readonly priority: number;
  readonly priceMicro: number;
  readonly isClientBound: boolean;
  readonly feed: JobFeed;
  avoidIslands: ReadonlySet<string> = NONE;
  avoidAccounts: ReadonlySet<string> = NONE;
  /** Islands that let the job down, in that order. */
  letDowns: readonly Assignee[] = NOBODY;
  #state: JobState;
  attempt: number;
  refusals: number;
  assignee: Assignee | null = null;
  /** Who earns what is charged: who delivered last; before output, who has the job. Null when that is not known since a restart. */
  earner: Assignee | null = null;
  meter: AttemptMeter | null = null;
  prompt: PromptTokens | null = null;
  final: FinalFailure | null = null;
  trace: string | null = null;
  isOverrun = false;
  readonly delivered = new DeliveredTokens();
  startedAtMs: number | null;
  readonly createdAtMs: number;
  endedAtMs: number | null = null;
  waitDeadlineMs: number;
  waitsSinceMs: number;
  mayRegain = false;
  lostIslandId: string | null = null;
  /** The last attempt that its Island was lost with and continued; 0 for none. An attempt is regained once. */
  regainedAttempt = 0;
  /** The Island said that it has the present attempt. */
  isAccepted = false;
  /** The present attempt has given output, or progress. */
  hasSpoken = false;
  lastSignMs = 0;
  /** The progress that the Island reported last of the present attempt, which grows as the work does; null before. */
  workCount: number | null = null;
  lastSeq = 0;
  durableSeq = 0;
  stored: Promise<void> | null = null;
  /** An attempt that begins now is stored with the job. */
  isOffered = false;
  assigned: Promise<void> | null = null;
  moved: Promise<void> | null = null;
  settled: Promise<void> | null = null;
  hasPlace = false;
  /** It is being given to another coordinator, and is not dispatched meanwhile. */
  isMoving = false;
  isDropped = false;
  #dropped: PromiseWithResolvers<void> | null = null;
  input: JobInput | null = null;
  traits: JobTraits | null = null;
  cargo: CatalogEntry | null = null;
  /** Output of all attempts, in bytes. */
  outputBytes: number;
  /** The part of it that is in memory, or comes there when somebody reads the feed. */
  memoryBytes: number;
  /** The part of that which the present attempt made. */
  attemptMemoryBytes = 0;
  readonly unstored = new UnstoredOutput();
  /** Writes of output that are not durable yet. */
  appendsUnderWay = 0;
  /** When the job gave output first, by the monotonic clock; Infinity before. */
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

  get islandId(): string | null {
    return this.assignee?.islandId ?? null;
  }

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
  remember({ letDowns, final, trace }: JobMemory): void {
    for (const assignee of letDowns) this.#avoid(assignee);
    this.final = final;
    this.trace = trace ?? null;
  }

  #avoid({ islandId, accountId }: Assignee): void {
    if (this.avoidIslands.has(islandId)) return;
    this.avoidIslands = new Set(this.avoidIslands).add(islandId);
    const isAgain = accountId !== this.accountId && this.letDowns.some((each) => each.accountId === accountId);
    if (isAgain) this.avoidAccounts = new Set(this.avoidAccounts).add(accountId);
    this.letDowns = [...this.letDowns, { islandId, accountId }];
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
