import type { FeedEnding } from "../jobs/feed.ts";
import type { FeedSlice } from "../jobs/feed-tail.ts";
import { feedItemOf } from "../store/jobs/feed-layout.ts";
import type { FeedItem } from "../store/jobs/job-store.ts";
import { LargeJson, type LargeRef } from "../store/jobs/large-json.ts";
import type { WireSlice, WireTokens } from "./messages.ts";

type WireItem = WireSlice["parts"][number]["items"][number];
type WireEnding = NonNullable<WireSlice["ending"]>;

/** Encodes the next slice of a feed. Plain tokens of one attempt, the usual case, use the short form. */
export function nextToWire(slice: FeedSlice): WireSlice | WireTokens {
  const [part, more] = slice.parts;
  const isWhole = part !== undefined && more === undefined && slice.ending === null && slice.promptTokens === undefined;
  const texts = isWhole ? part.items.map(itemToWire) : [];
  return isWhole && texts.every((text) => typeof text === "string")
    ? [slice.from, part.attempt, ...texts]
    : toWire(slice);
}

/** Encodes a slice. A token without other data becomes a string if its count is 1, else a pair of text and count. */
export function toWire({ from, parts, ending, promptTokens }: FeedSlice): WireSlice {
  return {
    from,
    parts: parts.map(({ attempt, items }) => ({ attempt, items: items.map(itemToWire) })),
    ...(promptTokens !== undefined && { promptTokens }),
    ...(ending !== null && { ending: endingToWire(ending) }),
  };
}

/** Decodes a slice. @param open creates the reader of a large value */
export function fromWire(frame: WireSlice | WireTokens, open: (ref: LargeRef) => LargeJson): FeedSlice {
  if (isTokens(frame)) {
    const [from, attempt, ...texts] = frame;
    return { from, parts: [{ attempt, items: texts.map(tokenOf) }], ending: null };
  }
  const { from, parts, ending, promptTokens } = frame;
  return {
    from,
    parts: parts.map(({ attempt, items }) => ({ attempt, items: items.map((item) => itemFromWire(item, open)) })),
    ending: ending === undefined ? null : endingFromWire(ending, open),
    ...(promptTokens !== undefined && { promptTokens }),
  };
}

export function isTokens(frame: WireSlice | WireTokens): frame is WireTokens {
  return Array.isArray(frame);
}

function tokenOf(content: string): FeedItem {
  return { type: "token", content, count: 1 };
}

function itemToWire(item: FeedItem): WireItem {
  if (item.type === "token" && item.logprobs === undefined) {
    return item.count === 1 ? item.content : [item.content, item.count];
  }
  if (item.type !== "image") return item;
  const { type, format, data } = item;
  return data instanceof LargeJson ? { type, format, large: refOf(data) } : { type, format, data };
}

function itemFromWire(item: WireItem, open: (ref: LargeRef) => LargeJson): FeedItem {
  if (typeof item === "string") return tokenOf(item);
  return Array.isArray(item) ? { type: "token", content: item[0], count: item[1] } : feedItemOf(item, open);
}

function endingToWire(ending: FeedEnding): WireEnding {
  if (ending.type === "error" || !(ending.output instanceof LargeJson)) return ending;
  const { output, ...rest } = ending;
  return { ...rest, large: refOf(output) };
}

function endingFromWire(ending: WireEnding, open: (ref: LargeRef) => LargeJson): FeedEnding {
  if (ending.type === "error") return ending;
  if (!("large" in ending)) return { ...ending, output: ending.output };
  const { large, ...rest } = ending;
  return { ...rest, output: open(large) };
}

function refOf({ name, chars }: LargeJson): LargeRef {
  return { name, chars };
}
