import { charsOf, isModelItem } from "../../shared/output.ts";
import type { FeedItem, FeedPart } from "../store/jobs/job-store.ts";
import { LargeJson } from "../store/jobs/large-json.ts";
import type { Feed, FeedEnding } from "./feed.ts";
import type { FeedPosition } from "./feed-position.ts";

export interface FeedSlice {
  /** Index of the slice's first item in the feed. */
  readonly from: number;
  readonly parts: readonly FeedPart[];
  /** The end of the feed, if it follows these items. */
  readonly ending: FeedEnding | null;
  /** See `Feed.promptTokens`; absent if unchanged since the last slice. */
  readonly promptTokens?: number;
}

/** The index of an item in a feed, and the counts of items before it. */
export interface FeedStart {
  readonly index: number;
  readonly outputs: number;
  readonly statuses: number;
}

/** Approximate characters of an item in a message, besides its text. */
const ITEM_CHARS = 16;

/** Reads a loaded feed from a reader's position, in slices for a replica. */
export class FeedTail {
  readonly #feed: Feed;
  #index = 0;
  #outputs = 0;
  #statuses = 0;
  #promptTokens = 0;
  #isOver = false;

  /**
   * Starts at the first item that the reader lacks. The reader may know later items, because statuses count separately.
   */
  constructor(feed: Feed, after: Pick<FeedPosition, "outputs" | "statuses">) {
    this.#feed = feed;
    const { items } = feed;
    for (let item = items[0]; item !== undefined; item = items[this.#index]) {
      if (item.type === "status" ? this.#statuses >= after.statuses : this.#outputs >= after.outputs) break;
      this.#pass(item);
    }
  }

  get start(): FeedStart {
    return { index: this.#index, outputs: this.#outputs, statuses: this.#statuses };
  }

  /** True once all items and the end were taken. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get isAtEnd(): boolean {
    return this.#index === this.#feed.items.length;
  }

  /**
   * Returns why {@link take} stops before the next item; null if it does not. `too_large`: the item exceeds a message.
   * A promise: the write of a large value, which other coordinators read from storage.
   */
  blockedBy(maxChars: number): "too_large" | Promise<unknown> | null {
    const item = this.#feed.items[this.#index];
    if (item === undefined) return null;
    return sizeOf(item) > maxChars ? "too_large" : writeOf(item);
  }

  /**
   * Returns the next items with about `maxChars` characters, and the end if it follows. Null if there is nothing new.
   */
  take(maxChars: number): (FeedSlice & { readonly chars: number }) | null {
    const { items } = this.#feed;
    const from = this.#index;
    const parts: { attempt: number; items: FeedItem[] }[] = [];
    let chars = 0;
    for (let item = items[from]; item !== undefined && chars < maxChars; item = items[this.#index]) {
      const size = sizeOf(item);
      if (size > maxChars || writeOf(item) !== null) break;
      this.#pass(item);
      const last = parts.at(-1);
      const attempt = item.type === "status" ? (last?.attempt ?? 1) : this.#feed.attemptOf(this.#outputs);
      if (last?.attempt === attempt) last.items.push(item);
      else parts.push({ attempt, items: [item] });
      chars += size;
    }
    const ending = this.isAtEnd && !this.#isOver ? this.#feed.ending : null;
    if (ending !== null) this.#isOver = true;
    const { promptTokens } = this.#feed;
    const isPromptChanged = promptTokens !== this.#promptTokens;
    this.#promptTokens = promptTokens;
    if (parts.length === 0 && ending === null && !isPromptChanged) return null;
    return { from, parts, ending, chars, ...(isPromptChanged && { promptTokens }) };
  }

  #pass(item: FeedItem): void {
    this.#index += 1;
    if (item.type === "status") this.#statuses += 1;
    else this.#outputs += 1;
  }
}

function sizeOf(item: FeedItem): number {
  if (isModelItem(item)) return charsOf(item) + ITEM_CHARS;
  return item.type === "image" && typeof item.data === "string" ? item.data.length + ITEM_CHARS : ITEM_CHARS;
}

function writeOf(item: FeedItem): Promise<unknown> | null {
  return item.type === "image" && item.data instanceof LargeJson ? item.data.written : null;
}
