import type { JobErrorCode } from "../../shared/errors.ts";
import { type FinishReason, isModelItem, type Usage } from "../../shared/output.ts";
import { isVisibleItem } from "../../shared/visible-text.ts";
import type { FeedItem, FeedPart, FeedProgress } from "../store/jobs/job-store.ts";
import { FEED_START, type FeedPosition } from "./feed-position.ts";

/** The last event of a feed. Each feed has exactly one. */
export type FeedEnding =
  | {
      readonly type: "done";
      readonly usage: Usage;
      readonly finishReason: FinishReason;
      /** The stop sequence that ended the text, as reported. Not stored: readers that come later do not receive it. */
      readonly stopSequence?: string;
      readonly creditsUsedMicro: number;
      /** The Cargo's JSON value, a `LargeJson` if it is large. Undefined for streamed text, which is in the feed. */
      readonly output: unknown;
    }
  | {
      readonly type: "error";
      readonly code: JobErrorCode | "cancelled";
      readonly message: string;
      readonly retryable: boolean;
    };

/**
 * Why a replica was cut. `lost`: the job continues without output that the replica has, which must not be read.
 * `memory`: the memory for replicas is full, and readers must reconnect to get the rest.
 */
export type CutReason = "lost" | "memory";

/** A feed with the methods that change it, for its writer. */
export type WritableFeed = Pick<JobFeed, keyof JobFeed>;

/**
 * The output of one job, in order, for its readers. All readers share one feed: a reader is a cursor into `items`, so
 * it needs no queue and may be late or slow.
 */
export type Feed = Readonly<Omit<WritableFeed, "cut" | "end" | "notePrompt" | "onReader" | "push" | "readers">>;

/** The stored part of a feed that is not in memory. */
export interface Backlog {
  readonly progress: FeedProgress;
  readonly read: () => Promise<readonly FeedPart[]>;
}

export class JobFeed {
  readonly jobId: string;
  /** The position of the first item. A replica may start at the position of its first reader. */
  readonly start: FeedPosition;
  /** The last event; null until the end of the job is durable. The feed does not change after it. */
  ending: FeedEnding | null;
  tokens = 0;
  /** Prompt tokens as the last Island counted them; 0 if it has reported none. Not stored. */
  promptTokens = 0;
  /**
   * Last attempt with output that a client may have seen: any output except progress and empty tokens. Null for none.
   */
  outputAttempt: number | null = null;
  hasText = false;
  /** True once a client may have seen more than white space. */
  hasVisible = false;
  /** Why this replica was cut; null if it was not. A cut feed gets no more items: readers must open the feed again. */
  cutReason: CutReason | null = null;
  /** Called when a reader subscribes; null if nothing depends on readers. */
  onReader: (() => void) | null = null;
  #items: FeedItem[] = [];
  /** Listeners of the readers; null before the first, because 100,000 waiting jobs have no reader. */
  #listeners: Set<() => void> | null = null;
  /** Number of outputs by attempt, in order; only attempts with output. */
  readonly #outputs: { readonly attempt: number; count: number }[] = [];
  /** The stored items before `#items`; null if nothing is stored, and once they are in memory. */
  #backlog: Backlog | null = null;
  #loading: Promise<void> | null = null;

  constructor(jobId: string, parts: readonly FeedPart[] = [], ending: FeedEnding | null = null, start = FEED_START) {
    this.jobId = jobId;
    this.start = start;
    if (start.outputs > 0) this.#outputs.push({ attempt: start.attempt, count: start.outputs });
    for (const { attempt, items } of parts) for (const item of items) this.#add(item, attempt);
    this.ending = ending === null ? null : this.#withoutText(ending);
  }

  /** Creates the feed of a restored job. The stored part is read on demand. */
  static restored(jobId: string, backlog: Backlog): JobFeed {
    const feed = new JobFeed(jobId);
    feed.tokens = backlog.progress.tokens;
    feed.outputAttempt = backlog.progress.hasOutput ? (backlog.progress.outputs.at(-1)?.attempt ?? 1) : null;
    feed.hasText = backlog.progress.hasText;
    feed.hasVisible = backlog.progress.hasVisible;
    feed.#outputs.push(...backlog.progress.outputs.map((run) => ({ ...run })));
    if (backlog.progress.items > 0) feed.#backlog = backlog;
    return feed;
  }

  get items(): readonly FeedItem[] {
    if (this.#backlog !== null) throw new Error(`The feed of ${this.jobId} is not loaded`);
    return this.#items;
  }

  /** True once a client may have seen output. */
  get hasOutput(): boolean {
    return this.outputAttempt !== null;
  }

  /** True once the feed has output or progress. */
  get hasItems(): boolean {
    return this.#outputs.length > 0;
  }

  get isLoaded(): boolean {
    return this.#backlog === null;
  }

  get isCut(): boolean {
    return this.cutReason !== null;
  }

  /** Number of subscribed readers. A slow reader is subscribed until it has read the end. */
  get readers(): number {
    return this.#listeners?.size ?? 0;
  }

  /**
   * Loads the stored items of a restored job, so that `items` and `text` can be read. Other feeds are loaded already.
   */
  async load(): Promise<void> {
    if (this.#backlog === null) return;
    this.#loading ??= this.#load(this.#backlog).finally(() => {
      this.#loading = null;
    });
    await this.#loading;
  }

  text(): string {
    let text = "";
    for (const item of this.items) if (item.type === "token") text += item.content;
    return text;
  }

  /** Returns the attempt that made output number `nth`, from 1; 1 for an output that does not exist. */
  attemptOf(nth: number): number {
    let upTo = 0;
    for (const { attempt, count } of this.#outputs) {
      upTo += count;
      if (nth > 0 && nth <= upTo) return attempt;
    }
    return 1;
  }

  /**
   * Returns true if the position counts output that this feed will never have: a crash lost it and the job continued
   * without it, or another attempt made it here. Returns false while the attempt may still resend the output.
   */
  hasLost({ outputs, attempt }: FeedPosition): boolean {
    const made = this.#outputs.filter((run) => run.attempt <= attempt).reduce((sum, { count }) => sum + count, 0);
    // The reader has this output from a later attempt at another owner: this coordinator was stalled and lost the job.
    if (outputs <= made) return outputs > 0 && this.attemptOf(outputs) !== attempt;
    return this.ending !== null || (this.#outputs.at(-1)?.attempt ?? 0) > attempt;
  }

  /** Adds items and calls the listeners. @throws if the feed has ended. */
  push(items: readonly FeedItem[], attempt = 1): void {
    if (this.ending !== null) throw new Error(`The feed of ${this.jobId} has already ended`);
    for (const item of items) this.#add(item, attempt);
    this.#wake();
  }

  notePrompt(tokens: number): void {
    if (tokens === this.promptTokens) return;
    this.promptTokens = tokens;
    this.#wake();
  }

  /** Ends the feed and calls the listeners. @throws if the feed has ended. */
  end(ending: FeedEnding): void {
    if (this.ending !== null) throw new Error(`The feed of ${this.jobId} has already ended`);
    this.ending = this.#withoutText(ending);
    this.#wake();
  }

  /** Cuts a replica, so that its readers open the feed again. */
  cut(reason: CutReason = "lost"): void {
    this.cutReason = reason;
    this.#wake();
  }

  /** Calls `listener` synchronously after each change, up to an end or cut. Returns the function that unsubscribes. */
  subscribe(listener: () => void): () => void {
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
    this.onReader?.();
    return () => this.#listeners?.delete(listener);
  }

  async #load({ progress, read }: Backlog): Promise<void> {
    const stored = (await read()).flatMap(({ items }) => items);
    // Items after the stored ones were added since the restart and are in memory.
    this.#items = [...stored.slice(0, progress.items), ...this.#items];
    this.#backlog = null;
  }

  /** Removes the output from an ending if it is the streamed text: storage returns the text in both forms. */
  #withoutText(ending: FeedEnding): FeedEnding {
    if (ending.type !== "done" || typeof ending.output !== "string") return ending;
    return this.hasText || ending.output === "" ? { ...ending, output: undefined } : ending;
  }

  #add(item: FeedItem, attempt: number): void {
    // `push` on an empty array allocates spare slots; see `UnstoredOutput.announce`. Most waiting jobs have one item.
    if (this.#items.length === 0) this.#items = [item];
    else this.#items.push(item);
    if (item.type === "status") return;
    if (isModelItem(item)) this.tokens += item.count;
    const isText = item.type === "token" && item.content !== "";
    if (isText) this.hasText = true;
    this.hasVisible ||= isVisibleItem(item);
    if (isText || (item.type !== "token" && item.type !== "progress")) this.outputAttempt = attempt;
    const last = this.#outputs.at(-1);
    if (last?.attempt === attempt) last.count += 1;
    else this.#outputs.push({ attempt, count: 1 });
  }

  #wake(): void {
    for (const listener of this.#listeners ?? []) listener();
  }
}

/** A reader of a feed. It walks the items once and skips those that were received before a reconnect. */
export class FeedCursor {
  #next = 0;
  #outputs: number;
  #statuses: number;
  readonly #feed: Feed;
  readonly #skip: FeedPosition;

  constructor(feed: Feed, after: FeedPosition = FEED_START) {
    this.#feed = feed;
    this.#skip = after;
    this.#outputs = feed.start.outputs;
    this.#statuses = feed.start.statuses;
  }

  /** The position after all items that the reader received, before a reconnect and since. */
  get position(): FeedPosition {
    const isAhead = this.#outputs > this.#skip.outputs;
    return {
      outputs: isAhead ? this.#outputs : this.#skip.outputs,
      statuses: Math.max(this.#statuses, this.#skip.statuses),
      attempt: isAhead ? this.#feed.attemptOf(this.#outputs) : this.#skip.attempt,
      ended: false,
    };
  }

  /** True if the reader has output that the feed lacks, so that the following items do not continue it. */
  get isLost(): boolean {
    return this.#outputs < this.#skip.outputs && this.#feed.hasLost(this.#skip);
  }

  /**
   * Moves past the next item that the reader has not received, and returns it; undefined if no such item exists yet.
   */
  take(): FeedItem | undefined {
    const { items } = this.#feed;
    while (this.#next < items.length) {
      const item = items[this.#next++] as FeedItem;
      const isNew =
        item.type === "status" ? ++this.#statuses > this.#skip.statuses : ++this.#outputs > this.#skip.outputs;
      if (isNew) return item;
    }
    return undefined;
  }

  /** Number of items that `take` has not examined. */
  get behind(): number {
    return this.#feed.items.length - this.#next;
  }

  /** Returns the next item that `take` examines, even if the reader has received it. */
  peek(): FeedItem | undefined {
    return this.#feed.items[this.#next];
  }
}
