import { MAX_INLINE_CHARS, type LargeJson, type LargeRef } from "./large-json.ts";
import type { FeedChunk, FeedItem, StatusItem } from "./job-store.ts";

export type StoredItem =
  | Exclude<FeedItem, { type: "image" }>
  | { readonly type: "image"; readonly format: string; readonly data: string }
  | { readonly type: "image"; readonly format: string; readonly large: LargeRef };
interface StoredPart {
  readonly attempt: number;
  readonly items: readonly StoredItem[];
}

/** A chunk for storage. `large`: large images as JSON texts, which are stored separately. */
export interface SplitChunk {
  readonly items: readonly StoredItem[];
  readonly large: readonly { readonly name: string; readonly json: string }[];
}

/** Moves large images out of a chunk's items. Items that are already split stay unchanged. */
export function splitChunk({ attempt, seq, items }: StoredPart & Pick<FeedChunk, "seq">): SplitChunk {
  const large: { name: string; json: string }[] = [];
  const stored = items.map((item, index): StoredItem => {
    if (item.type !== "image" || "large" in item || item.data.length <= MAX_INLINE_CHARS) return item;
    const json = JSON.stringify(item.data);
    const name = `${attempt}.${seq ?? 0}.${index}`;
    large.push({ name, json });
    return { type: "image", format: item.format, large: { name, chars: json.length } };
  });
  return { items: stored, large };
}

/** Converts a stored item. `open` returns a reader of a large value. */
export function feedItemOf(item: StoredItem, open: (ref: LargeRef) => LargeJson): FeedItem {
  if (item.type !== "image" || !("large" in item)) return item;
  return { type: "image", format: item.format, data: open(item.large) };
}

/**
 * An entry of a folded feed. A number is a token of that many UTF-16 units that counts as one model token; a pair is a
 * token with another count. A string is a status. `attempt`: the attempt of the entries that follow.
 */
type LayoutEntry =
  | number
  | [length: number, count: number]
  | string
  | { readonly attempt: number }
  | Exclude<StoredItem, { type: "token" } | StatusItem>;

export interface StoredChunkRow {
  readonly attempt: number;
  readonly seq: number | null;
  /** Layout as JSON; in a row without text, which an earlier version wrote, the items themselves. */
  readonly items: string;
  readonly text: string | null;
}

export function foldItems(items: readonly StoredItem[]): FoldedFeed {
  return foldFeed([{ attempt: 0, items }]);
}

export function unfoldItems({ items, text }: Pick<StoredChunkRow, "items" | "text">): readonly StoredItem[] {
  if (text === null) return JSON.parse(items) as StoredItem[];
  return unfoldFeed({ layout: items, text }, 0)[0]?.items ?? [];
}

/** The feed of an ended job: the text of all tokens, and a layout of a byte or two for each token. */
interface FoldedFeed {
  /** Array of {@link LayoutEntry} as JSON. */
  readonly layout: string;
  readonly text: string;
}

/** Folds the items of all attempts, in order. */
export function foldFeed(parts: readonly StoredPart[]): FoldedFeed {
  const layout: LayoutEntry[] = [];
  let text = "";
  let current = 0;
  for (const { attempt, items } of parts) {
    if (attempt !== current) layout.push({ attempt });
    current = attempt;
    for (const item of items) {
      if (item.type === "status") layout.push(item.state);
      else if (item.type === "token") {
        text += item.content;
        layout.push(item.count === 1 ? item.content.length : [item.content.length, item.count]);
      } else layout.push(item);
    }
  }
  // A lone surrogate cannot be encoded in UTF-8; its replacement has the same length.
  return { layout: JSON.stringify(layout), text: text.toWellFormed() };
}

/** Restores the items. @param firstAttempt attempt of the entries before the first `attempt` entry. */
export function unfoldFeed({ layout, text }: FoldedFeed, firstAttempt?: number): StoredPart[] {
  const parts: { attempt: number; items: StoredItem[] }[] = [];
  if (firstAttempt !== undefined) parts.push({ attempt: firstAttempt, items: [] });
  let from = 0;
  const token = (length: number, count: number): StoredItem => {
    from += length;
    return { type: "token", content: text.slice(from - length, from), count };
  };
  for (const entry of JSON.parse(layout) as LayoutEntry[]) {
    const items = parts.at(-1)?.items;
    if (typeof entry === "number") items?.push(token(entry, 1));
    else if (typeof entry === "string") items?.push({ type: "status", state: entry });
    else if (Array.isArray(entry)) items?.push(token(...entry));
    else if ("attempt" in entry) parts.push({ attempt: entry.attempt, items: [] });
    else items?.push(entry);
  }
  return parts;
}
