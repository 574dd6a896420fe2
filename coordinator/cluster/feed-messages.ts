import type { FeedEnding } from "../jobs/feed.ts";
import type { FeedPosition } from "../jobs/feed-position.ts";
import type { FeedPlace, FeedSlice } from "../jobs/feed-tail.ts";
import { feedItemOf, type StoredItem } from "../store/feed-layout.ts";
import type { FeedItem } from "../store/job-store.ts";
import { LargeJson, type LargeRef } from "../store/large-json.ts";

/*
 * The messages about feeds, docs/cluster.md. A follower is a coordinator whose clients read the feed of a job that another one owns; it
 * numbers what it opens, so that frames of an earlier try are told from those of the present one.
 */

/** Request `<owner>.feed`. */
export interface OpenFeed {
  /** Id of the follower. */
  readonly follower: string;
  /** Greater than those before it. */
  readonly stream: number;
  readonly jobId: string;
  /** What the follower has. */
  readonly after: Pick<FeedPosition, "outputs" | "statuses" | "attempt">;
}

/**
 * `open`: what follows the position; with `more` the follower asks again, else the rest comes in frames. `gone`: the coordinator does not
 * have the job. `lost`: the job went on without output that the follower has. `too_large`: the next item is larger than a message may be,
 * and in storage soon.
 */
export type OpenedFeed =
  | { readonly is: "open"; readonly place: FeedPlace; readonly slice: WireSlice | null; readonly more: boolean }
  | { readonly is: "gone" | "lost" | "too_large" };

/** Request `<owner>.feeds`, every second: what a follower has and wants to go on with. It wants no other stream up to `upTo`. */
export interface RenewFeeds {
  readonly follower: string;
  readonly upTo: number;
  readonly streams: readonly (readonly [stream: number, nextIndex: number])[];
}

/** The streams that the owner does not have, and those to which a frame was lost. */
export interface RenewedFeeds {
  readonly broken: readonly number[];
}

/** Message `feed.<follower>`. A stream with null is over: the coordinator does not have the job any more, or cannot go on with it. */
export interface FeedFrames {
  readonly frames: readonly (readonly [stream: number, slice: WireSlice | null])[];
}

/** A {@link FeedSlice}, small: a text is a token that counts as one, a pair a token with another count, if nothing else is told of it. */
export type WireSlice = readonly [from: number, parts: readonly WirePart[], ending?: WireEnding];
/** A prompt size that changed is in a first part without items. Coordinators of earlier versions ignore it. */
type WirePart = readonly [attempt: number, items: readonly WireItem[], promptTokens?: number];
type WireItem = string | readonly [content: string, count: number] | StoredItem;
type WireEnding = FeedEnding | (Omit<FeedEnding & { type: "done" }, "output"> & { readonly large: LargeRef });

export function toWire({ from, parts, ending, promptTokens }: FeedSlice): WireSlice {
  const wireParts: WirePart[] = parts.map(({ attempt, items }) => [attempt, items.map(itemToWire)]);
  if (promptTokens !== undefined) wireParts.unshift([parts[0]?.attempt ?? 1, [], promptTokens]);
  return ending === null ? [from, wireParts] : [from, wireParts, endingToWire(ending)];
}

/** `open`: makes what reads a large value. */
export function fromWire([from, parts, ending]: WireSlice, open: (ref: LargeRef) => LargeJson): FeedSlice {
  const promptTokens = parts[0]?.[2];
  return {
    from,
    parts: parts.map(([attempt, items]) => ({ attempt, items: items.map((item) => itemFromWire(item, open)) })),
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
  return isPair(item) ? { type: "token", content: item[0], count: item[1] } : feedItemOf(item, open);
}

function isPair(item: Exclude<WireItem, string>): item is readonly [string, number] {
  return Array.isArray(item);
}

function endingToWire(ending: FeedEnding): WireEnding {
  if (ending.type === "error" || !(ending.output instanceof LargeJson)) return ending;
  const { output, ...rest } = ending;
  return { ...rest, large: refOf(output) };
}

function endingFromWire(ending: WireEnding, open: (ref: LargeRef) => LargeJson): FeedEnding {
  if (ending.type === "error") return ending;
  if (!("large" in ending)) return ending.output === undefined ? { ...ending, output: undefined } : ending;
  const { large, ...rest } = ending;
  return { ...rest, output: open(large) };
}

function refOf({ name, chars }: LargeJson): LargeRef {
  return { name, chars };
}
