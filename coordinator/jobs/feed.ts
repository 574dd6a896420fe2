import type { JobErrorCode } from "../../shared/errors.ts";
import type { FinishReason, Usage } from "../../shared/output.ts";
import type { FeedItem, FeedPart } from "../store/job-store.ts";
import type { FeedPosition } from "./feed-position.ts";

/** The last thing of every feed, exactly once. */
export type FeedEnding =
  | {
      readonly type: "done";
      readonly usage: Usage;
      readonly finishReason: FinishReason;
      readonly creditsUsedMicro: number;
      /** The job's JSON value where its Cargo made one; undefined for text, which is the tokens. */
      readonly output: unknown;
    }
  | {
      readonly type: "error";
      readonly code: JobErrorCode | "cancelled";
      readonly message: string;
      readonly retryable: boolean;
    };

/**
 * What one job has said so far, in order. There is one feed per job, whoever listens: a reader is a cursor into `items`, so it
 * costs no queue, may come late and may be slow. A feed grows until it has an ending and never changes after.
 */
export class Feed {
  readonly jobId: string;
  readonly #items: FeedItem[];
  readonly #listeners = new Set<() => void>();
  #ending: FeedEnding | null;
  #tokens = 0;
  /** Outputs of each attempt that made some, in order. */
  readonly #outputs: { readonly attempt: number; count: number }[] = [];

  constructor(jobId: string, parts: readonly FeedPart[] = [], ending: FeedEnding | null = null) {
    this.jobId = jobId;
    this.#items = parts.flatMap(({ items }) => items);
    this.#ending = ending;
    for (const { attempt, items } of parts) for (const item of items) this.#count(item, attempt);
  }

  get items(): readonly FeedItem[] {
    return this.#items;
  }

  get ending(): FeedEnding | null {
    return this.#ending;
  }

  /** Model tokens delivered so far. */
  get tokens(): number {
    return this.#tokens;
  }

  /** True once a client may have seen something of the output. */
  get hasOutput(): boolean {
    return this.#outputs.length > 0;
  }

  /** The text delivered so far. */
  text(): string {
    let text = "";
    for (const item of this.#items) if (item.type === "token") text += item.content;
    return text;
  }

  /** The attempt that made the `nth` output, counted from 1; 1 for none. */
  attemptOf(nth: number): number {
    let upTo = 0;
    for (const { attempt, count } of this.#outputs) {
      upTo += count;
      if (nth > 0 && nth <= upTo) return attempt;
    }
    return 1;
  }

  /**
   * True when a reader was given output that this feed has not and never will have: it was relayed, a crash came before it was
   * stored, and the job went on without it. False while the attempt that made it may still bring it again.
   */
  hasLost({ outputs, attempt }: FeedPosition): boolean {
    const made = this.#outputs.filter((run) => run.attempt <= attempt).reduce((sum, { count }) => sum + count, 0);
    const isOver = this.#ending !== null || (this.#outputs.at(-1)?.attempt ?? 0) > attempt;
    return outputs > made && isOver;
  }

  /** `attempt`: the one that made the items. */
  push(items: readonly FeedItem[], attempt = 1): void {
    if (this.#ending !== null) throw new Error(`Feed of ${this.jobId} has ended`);
    for (const item of items) {
      this.#items.push(item);
      this.#count(item, attempt);
    }
    this.#wake();
  }

  end(ending: FeedEnding): void {
    if (this.#ending !== null) throw new Error(`Feed of ${this.jobId} has ended`);
    this.#ending = ending;
    this.#wake();
    this.#listeners.clear();
  }

  /** Calls `listener` after each change, synchronously, until the returned function is called or the feed ends. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #count(item: FeedItem, attempt: number): void {
    if (item.type === "status") return;
    if (item.type === "token") this.#tokens += item.count;
    const last = this.#outputs.at(-1);
    if (last?.attempt === attempt) last.count += 1;
    else this.#outputs.push({ attempt, count: 1 });
  }

  #wake(): void {
    for (const listener of this.#listeners) listener();
  }
}
