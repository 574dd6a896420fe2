import { charsOf, isModelItem } from "../../shared/output.ts";
import type { FeedItem, FeedProgress } from "../store/jobs/job-store.ts";
import { MAX_INLINE_CHARS } from "../store/jobs/large-json.ts";

/** Memory of an item without its content. V8 needs 88 to 104 bytes, including the slot in the feed. */
const BYTES_PER_ITEM = 128;

export interface OutputSize {
  readonly tokens: number;
  readonly bytes: number;
  /** The part of `bytes` that is in memory. Large images are only in storage. */
  readonly memoryBytes: number;
}

export const NO_OUTPUT: OutputSize = { tokens: 0, bytes: 0, memoryBytes: 0 };

export function sizeOf(items: readonly FeedItem[]): OutputSize {
  let tokens = 0;
  let memoryBytes = items.length * BYTES_PER_ITEM;
  let largeBytes = 0;
  for (const item of items) {
    if (isModelItem(item)) {
      tokens += item.count;
      memoryBytes += charsOf(item);
    } else if (item.type === "image" && typeof item.data === "string") {
      if (item.data.length > MAX_INLINE_CHARS) largeBytes += item.data.length;
      else memoryBytes += item.data.length;
    }
  }
  return { tokens, bytes: memoryBytes + largeBytes, memoryBytes };
}

/** Returns the size of the stored part of a feed. It counts as in memory: the first reader loads it. */
export function sizeOfStored({ items, tokens, bytes, largeBytes }: FeedProgress): OutputSize {
  const memoryBytes = items * BYTES_PER_ITEM + bytes;
  return { tokens, bytes: memoryBytes + largeBytes, memoryBytes };
}
