import type { AttemptPhase } from "../../shared/attempt-phase.ts";
import { KIB, MIB } from "../../shared/format-bytes.ts";
import { isTerminal, nextState, type JobEvent, type JobState } from "../../shared/job-state.ts";
import type { OutputItem } from "../../shared/output.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import type { FeedItem, FeedPart, JobInput, ActiveJobRecord } from "../store/job-store.ts";
import type { ActiveJob } from "./active-job.ts";
import { JobFeed } from "./feed.ts";
import { traitsOf, type JobTraits } from "./job-traits.ts";

/** The Island that has an attempt, and its owner's account, which earns. */
export interface Assignee {
  readonly islandId: string;
  readonly accountId: string;
}

/** No Cargo makes more; an image of 4,096 pixels a side has less. */
const MAX_OUTPUT_BYTES = 64 * MIB;
const MAX_BYTES_PER_TOKEN = KIB;
/** Counted for each item beside its content. */
const BYTES_PER_ITEM = 64;

/** The state behind an {@link ActiveJob}. It never leaves this folder; `ActiveJobs`, `JobRegistry` and `JobAttempts` change it. */
export class MutableJob implements ActiveJob {
  readonly id: string;
  readonly accountId: string;
  readonly batchId: string | null;
  readonly slug: string;
  readonly priority: number;
  readonly priceMicro: number;
  readonly feed: JobFeed;
  readonly avoidIslands = new Set<string>();
  #state: JobState;
  attempt: number;
  assignee: Assignee | null = null;
  startedAtMs: number | null;
  waitDeadlineMs: number;
  waitsSinceMs: number;
  mayRegain = false;
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
  assigned: Promise<void> | null = null;
  settled: Promise<void> | null = null;
  hasPlace = false;
  input: JobInput | null = null;
  traits: JobTraits | null = null;
  cargo: CatalogEntry | null = null;
  /** Feed items that are not stored yet. A state is stored with the next output, because no acknowledgement waits for it. */
  #unsaved: FeedItem[] = [];
  /** Of all attempts. */
  #outputBytes = 0;

  constructor(record: ActiveJobRecord, parts: readonly FeedPart[] = []) {
    this.id = record.id;
    this.accountId = record.accountId;
    this.batchId = record.batchId;
    this.slug = record.slug;
    this.priority = record.priority;
    this.priceMicro = record.priceMicro;
    this.waitDeadlineMs = record.waitDeadlineMs;
    this.waitsSinceMs = record.createdAtMs;
    // Why the attempt is over is not stored; one that its Island does not have any more is not claimed.
    this.mayRegain = record.state === "pending" && record.attempt > 0;
    this.#state = record.state;
    this.attempt = record.attempt;
    this.startedAtMs = record.startedAtMs;
    this.feed = new JobFeed(record.id, parts);
    if (parts.length === 0) this.announce("pending");
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
  assign(attempt: number, assignee: Assignee): void {
    this.apply("assign");
    this.attempt = attempt;
    this.lastSeq = 0;
    this.durableSeq = 0;
    this.#beginAttempt(assignee);
  }

  /** The last attempt goes on, with its output so far. @throws {IllegalTransitionError} unless the job is pending. */
  regain(assignee: Assignee): void {
    this.apply("regain");
    this.regainedAttempt = this.attempt;
    this.#beginAttempt(assignee);
  }

  /** @throws {IllegalTransitionError} unless the job is queued. */
  start(atMs: number): void {
    this.apply("start");
    this.startedAtMs = atMs;
    this.announce("running");
  }

  /**
   * Ends the present attempt, not the job. @throws {IllegalTransitionError} unless an Island has the job.
   * @param mayReturn the Island is away, and may come back with the attempt.
   */
  lose(mayReturn: boolean): void {
    this.apply("lose");
    this.mayRegain = mayReturn && this.regainedAttempt !== this.attempt;
    this.assignee = null;
    this.startedAtMs = null;
    this.announce("pending");
  }

  #beginAttempt(assignee: Assignee): void {
    this.assignee = assignee;
    this.mayRegain = false;
    this.isAccepted = false;
    this.hasSpoken = false;
    this.workCount = null;
    this.announce("queued");
  }

  /** Learns what the input says; the first call counts. */
  learnTraits(input: JobInput, isChat: boolean): void {
    this.traits ??= traitsOf(input, isChat);
  }

  /** Adds a state to the feed. Readers see it at once. */
  announce(state: string): void {
    this.say([{ type: "status", state }]);
  }

  say(items: readonly FeedItem[]): void {
    this.#unsaved.push(...items);
    this.feed.push(items, this.attempt);
  }

  /** The items that the store was not given yet; the caller gives them to it now. */
  takeUnsaved(): FeedItem[] {
    const items = this.#unsaved;
    this.#unsaved = [];
    return items;
  }

  /** Counts output against what the job can have asked for. False when it is more. */
  countOutput(items: readonly OutputItem[]): boolean {
    let { tokens } = this.feed;
    for (const item of items) {
      this.#outputBytes += BYTES_PER_ITEM;
      if (item.type === "token") {
        tokens += item.count;
        this.#outputBytes += item.content.length;
      } else if (item.type === "image") this.#outputBytes += item.data.length;
    }
    const maxTokens = this.traits?.maxTokens ?? null;
    if (maxTokens === null) return this.#outputBytes <= MAX_OUTPUT_BYTES;
    return tokens <= maxTokens && this.#outputBytes <= (maxTokens + 1) * MAX_BYTES_PER_TOKEN;
  }
}
