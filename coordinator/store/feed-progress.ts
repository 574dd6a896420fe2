import { charsOf, isModelItem } from "../../shared/output.ts";
import type { FeedProgress } from "./job-store.ts";
import { itemsOf, type StoredChunkRow, type StoredItem } from "./feed-layout.ts";

/** How far a feed has come, by its chunks in order. `attempt`: the present one. */
export function progressOf(rows: Iterable<StoredChunkRow>, attempt: number): FeedProgress {
  const sum = { items: 0, tokens: 0, bytes: 0, largeBytes: 0 };
  const outputs: { attempt: number; count: number }[] = [];
  let [hasOther, hasText] = [false, false];
  let lastSeq = 0;
  for (const row of rows) {
    if (row.attempt === attempt) lastSeq = Math.max(lastSeq, row.seq ?? 0);
    for (const item of itemsOf(row)) {
      sum.items += 1;
      if (item.type === "status") continue;
      if (isModelItem(item)) sum.tokens += item.count;
      const size = sizeOf(item);
      sum.bytes += size.bytes;
      sum.largeBytes += size.largeBytes;
      hasOther ||= item.type !== "token" && item.type !== "progress";
      hasText ||= item.type === "token" && item.content !== "";
      const last = outputs.at(-1);
      if (last?.attempt === row.attempt) last.count += 1;
      else outputs.push({ attempt: row.attempt, count: 1 });
    }
  }
  return { ...sum, outputs, hasOutput: hasOther || hasText, hasText, lastSeq };
}

function sizeOf(item: StoredItem): { readonly bytes: number; readonly largeBytes: number } {
  if (isModelItem(item)) return { bytes: charsOf(item), largeBytes: 0 };
  if (item.type !== "image") return { bytes: 0, largeBytes: 0 };
  return "large" in item ? { bytes: 0, largeBytes: item.large.chars } : { bytes: item.data.length, largeBytes: 0 };
}
