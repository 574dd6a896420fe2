import type { JobErrorCode } from "../../shared/errors.ts";
import type { FinishReason, Usage } from "../../shared/output.ts";
import type { FeedItem } from "../store/job-store.ts";

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

  constructor(jobId: string, items: readonly FeedItem[] = [], ending: FeedEnding | null = null) {
    this.jobId = jobId;
    this.#items = [...items];
    this.#ending = ending;
    for (const item of items) this.#count(item);
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
    return this.#items.some((item) => item.type !== "status");
  }

  /** The text delivered so far. */
  text(): string {
    let text = "";
    for (const item of this.#items) if (item.type === "token") text += item.content;
    return text;
  }

  push(items: readonly FeedItem[]): void {
    if (this.#ending !== null) throw new Error(`Feed of ${this.jobId} has ended`);
    for (const item of items) {
      this.#items.push(item);
      this.#count(item);
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

  #count(item: FeedItem): void {
    if (item.type === "token") this.#tokens += item.count;
  }

  #wake(): void {
    for (const listener of this.#listeners) listener();
  }
}
