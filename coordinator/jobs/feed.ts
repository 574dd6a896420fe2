import type { JobErrorCode } from "../../shared/errors.ts";
import { type FinishReason, isModelItem, type Usage } from "../../shared/output.ts";
import type { FeedItem, FeedPart, FeedProgress } from "../store/jobs/job-store.ts";
import { FEED_START, type FeedPosition } from "./feed-position.ts";

/** The last event of every feed, exactly once. */
export type FeedEnding =
  | {
      readonly type: "done";
      readonly usage: Usage;
      readonly finishReason: FinishReason;
      /** What the Island says ended the text. Not stored: only those who followed the job to its end know it. */
      readonly stopSequence?: string;
      readonly creditsUsedMicro: number;
      /** The JSON value that the Cargo made, a `LargeJson` if it is large. Undefined for text that was streamed: it is the feed's own. */
      readonly output: unknown;
    }
  | {
      readonly type: "error";
      readonly code: JobErrorCode | "cancelled";
      readonly message: string;
      readonly retryable: boolean;
    };

/**
 * Why a copy of another coordinator's feed was given up. `lost`: the job goes on without output that the copy has, which is not to be read.
 * `memory`: there is none for more of it; its readers come back for the rest.
 */
export type CutReason = "lost" | "memory";

/** A feed in the hands of the one who writes it. */
export type WritableFeed = Pick<JobFeed, keyof JobFeed>;

/**
 * What one job has said so far, in order, for its readers. A job has one feed for all of them: a reader is a cursor into
 * `items`, so it costs no queue, may come late and may be slow.
 */
export type Feed = Readonly<Omit<WritableFeed, "cut" | "end" | "notePrompt" | "onReader" | "push" | "readers">>;

/** What is stored of a feed and not in memory: how far it had come, and how to read it. */
export interface Backlog {
  readonly progress: FeedProgress;
  readonly read: () => Promise<readonly FeedPart[]>;
}

export class JobFeed {
  readonly jobId: string;
  /** What came before `items`: nothing, but for a copy that begins where its first reader was. */
  readonly start: FeedPosition;
  /** Null until the end of the job is durable; then nothing changes any more. */
  ending: FeedEnding | null;
  /** Model tokens delivered so far. */
  tokens = 0;
  /** Tokens of the prompt, as the last Island counts them; 0 before, and if it does not say. Not stored. */
  promptTokens = 0;
  /**
   * The attempt that last gave what a client may have seen and cannot be taken back: text, thoughts, an image or a call of a tool, not
   * progress. Null before any.
   */
  outputAttempt: number | null = null;
  /** True once text was said. */
  hasText = false;
  /** Null but for a copy that is given up. Nothing changes any more then; the job has another feed. */
  cutBecause: CutReason | null = null;
  /** Called when there is a new listener. */
  onReader: (() => void) | null = null;
  #items: FeedItem[] = [];
  /** Null before the first: 100,000 waiting jobs have no reader. */
  #listeners: Set<() => void> | null = null;
  /** Number of outputs by attempt, in order; only attempts with output. */
  readonly #outputs: { readonly attempt: number; count: number }[] = [];
  /** Comes before `#items`. Null once it was read. */
  #backlog: Backlog | null = null;
  #loading: Promise<void> | null = null;

  constructor(jobId: string, parts: readonly FeedPart[] = [], ending: FeedEnding | null = null, start = FEED_START) {
    this.jobId = jobId;
    this.start = start;
    if (start.outputs > 0) this.#outputs.push({ attempt: start.attempt, count: start.outputs });
    for (const { attempt, items } of parts) for (const item of items) this.#add(item, attempt);
    this.ending = ending === null ? null : this.#withoutText(ending);
  }

  /** The feed of a job that was unfinished when the coordinator last stopped. It is read when somebody asks for it. */
  static restored(jobId: string, backlog: Backlog): JobFeed {
    const feed = new JobFeed(jobId);
    feed.tokens = backlog.progress.tokens;
    feed.outputAttempt = backlog.progress.hasOutput ? (backlog.progress.outputs.at(-1)?.attempt ?? 1) : null;
    feed.hasText = backlog.progress.hasText;
    feed.#outputs.push(...backlog.progress.outputs.map((run) => ({ ...run })));
    if (backlog.progress.items > 0) feed.#backlog = backlog;
    return feed;
  }

  get items(): readonly FeedItem[] {
    if (this.#backlog !== null) throw new Error(`The feed of ${this.jobId} is not loaded`);
    return this.#items;
  }

  /** True once a client may have seen output; see {@link outputAttempt}. */
  get hasOutput(): boolean {
    return this.outputAttempt !== null;
  }

  /** True once anything was said besides states: output or progress. */
  get hasItems(): boolean {
    return this.#outputs.length > 0;
  }

  get isLoaded(): boolean {
    return this.#backlog === null;
  }

  get isCut(): boolean {
    return this.cutBecause !== null;
  }

  /** Number of listeners. One who reads slowly listens until it has read the end. */
  get readers(): number {
    return this.#listeners?.size ?? 0;
  }

  /** Resolves when `items` and `text` can be read. They cannot at once for a job that was restored after a restart. */
  async load(): Promise<void> {
    if (this.#backlog === null) return;
    this.#loading ??= this.#load(this.#backlog).finally(() => {
      this.#loading = null;
    });
    await this.#loading;
  }

  /** The text delivered so far. */
  text(): string {
    let text = "";
    for (const item of this.items) if (item.type === "token") text += item.content;
    return text;
  }

  /** The attempt that made output number `nth`, counted from 1. 1 for an output that does not exist. */
  attemptOf(nth: number): number {
    let upTo = 0;
    for (const { attempt, count } of this.#outputs) {
      upTo += count;
      if (nth > 0 && nth <= upTo) return attempt;
    }
    return 1;
  }

  /**
   * True when the position counts output that this feed lacks and never gets: the output was relayed, a crash came before it
   * was stored, and the job continued without it. False while the attempt that made it may still send it again. True also when
   * another attempt made that output.
   */
  hasLost({ outputs, attempt }: FeedPosition): boolean {
    const made = this.#outputs.filter((run) => run.attempt <= attempt).reduce((sum, { count }) => sum + count, 0);
    // The reader has it from an attempt that began elsewhere since: this coordinator stood still, and does not own the job any more.
    if (outputs <= made) return outputs > 0 && this.attemptOf(outputs) !== attempt;
    return this.ending !== null || (this.#outputs.at(-1)?.attempt ?? 0) > attempt;
  }

  /** `attempt`: the one that made the items. @throws when the feed has ended. */
  push(items: readonly FeedItem[], attempt = 1): void {
    if (this.ending !== null) throw new Error(`Feed of ${this.jobId} has ended`);
    for (const item of items) this.#add(item, attempt);
    this.#wake();
  }

  notePrompt(tokens: number): void {
    if (tokens === this.promptTokens) return;
    this.promptTokens = tokens;
    this.#wake();
  }

  /** @throws when the feed has ended. */
  end(ending: FeedEnding): void {
    if (this.ending !== null) throw new Error(`Feed of ${this.jobId} has ended`);
    this.ending = this.#withoutText(ending);
    this.#wake();
  }

  cut(because: CutReason = "lost"): void {
    this.cutBecause = because;
    this.#wake();
  }

  /** Calls `listener` after each change, synchronously, until the returned function is called. The end, or a cut, is the last. */
  subscribe(listener: () => void): () => void {
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
    this.onReader?.();
    return () => this.#listeners?.delete(listener);
  }

  async #load({ progress, read }: Backlog): Promise<void> {
    const stored = (await read()).flatMap(({ items }) => items);
    // What follows was said since the restart: it is in memory already.
    this.#items = [...stored.slice(0, progress.items), ...this.#items];
    this.#backlog = null;
  }

  /** Storage gives text that was streamed as the output, too. */
  #withoutText(ending: FeedEnding): FeedEnding {
    if (ending.type !== "done" || typeof ending.output !== "string") return ending;
    return this.hasText || ending.output === "" ? { ...ending, output: undefined } : ending;
  }

  #add(item: FeedItem, attempt: number): void {
    // As in `MutableJob.announce`: the first item is nearly always the only one of a waiting job.
    if (this.#items.length === 0) this.#items = [item];
    else this.#items.push(item);
    if (item.type === "status") return;
    if (isModelItem(item)) this.tokens += item.count;
    const isText = item.type === "token" && item.content !== "";
    if (isText) this.hasText = true;
    if (isText || (item.type !== "token" && item.type !== "progress")) this.outputAttempt = attempt;
    const last = this.#outputs.at(-1);
    if (last?.attempt === attempt) last.count += 1;
    else this.#outputs.push({ attempt, count: 1 });
  }

  #wake(): void {
    for (const listener of this.#listeners ?? []) listener();
  }
}

/** A reader's place in a feed. It walks the items once and leaves out what the reader was given before a reconnect. */
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

  /** What the reader has been given in all, before a reconnect and since. */
  get position(): FeedPosition {
    const isAhead = this.#outputs > this.#skip.outputs;
    return {
      outputs: isAhead ? this.#outputs : this.#skip.outputs,
      statuses: Math.max(this.#statuses, this.#skip.statuses),
      attempt: isAhead ? this.#feed.attemptOf(this.#outputs) : this.#skip.attempt,
      ended: false,
    };
  }

  /** The reader has output that is not in the feed, so what follows does not continue it. */
  get isLost(): boolean {
    return this.#outputs < this.#skip.outputs && this.#feed.hasLost(this.#skip);
  }

  /** The next item that the reader has not seen, with the cursor moved past it; undefined at the end of what there is. */
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

  /** Items that `take` has not looked at. */
  get behind(): number {
    return this.#feed.items.length - this.#next;
  }

  /** The item that `take` would look at next, seen or not. */
  peek(): FeedItem | undefined {
    return this.#feed.items[this.#next];
  }
}
