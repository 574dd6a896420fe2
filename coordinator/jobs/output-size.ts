import { charsOf, isModelItem } from "../../shared/output.ts";
import type { FeedItem, FeedProgress } from "../store/jobs/job-store.ts";
import { MAX_INLINE_CHARS } from "../store/jobs/large-json.ts";

/** Memory of an item besides its content: 88 to 104 bytes in V8, including its slot in the feed. */
const BYTES_PER_ITEM = 128;

export interface OutputSize {
  readonly tokens: number;
  readonly bytes: number;
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

/** Counts the stored part of a feed as in memory, as it is loaded for the first reader. */
export function sizeOfStored({ items, tokens, bytes, largeBytes }: FeedProgress): OutputSize {
  const memoryBytes = items * BYTES_PER_ITEM + bytes;
  return { tokens, bytes: memoryBytes + largeBytes, memoryBytes };
}
