import type { FeedEnding } from "../jobs/feed.ts";
import type { FeedSlice } from "../jobs/feed-tail.ts";
import { feedItemOf } from "../store/jobs/feed-layout.ts";
import type { FeedItem } from "../store/jobs/job-store.ts";
import { LargeJson, type LargeRef } from "../store/jobs/large-json.ts";
import type { WireSlice } from "./messages.ts";

type WireItem = WireSlice["parts"][number]["items"][number];
type WireEnding = NonNullable<WireSlice["ending"]>;

/** A slice, small: a text is a token that counts as one, a pair a token with another count, if nothing else is told of it. */
export function toWire({ from, parts, ending, promptTokens }: FeedSlice): WireSlice {
  return {
    from,
    parts: parts.map(({ attempt, items }) => ({ attempt, items: items.map(itemToWire) })),
    ...(promptTokens !== undefined && { promptTokens }),
    ...(ending !== null && { ending: endingToWire(ending) }),
  };
}

/** @param open makes what reads a large value. */
export function fromWire(
  { from, parts, ending, promptTokens }: WireSlice,
  open: (ref: LargeRef) => LargeJson,
): FeedSlice {
  return {
    from,
    parts: parts.map(({ attempt, items }) => ({ attempt, items: items.map((item) => itemFromWire(item, open)) })),
    ending: ending === undefined ? null : endingFromWire(ending, open),
    ...(promptTokens !== undefined && { promptTokens }),
  };
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
  if (typeof item === "string") return { type: "token", content: item, count: 1 };
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
