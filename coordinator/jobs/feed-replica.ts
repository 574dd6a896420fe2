import type { FeedItem } from "../store/jobs/job-store.ts";
import { JobFeed, type WritableFeed } from "./feed.ts";
import { FEED_START, type FeedPosition } from "./feed-position.ts";
import type { FeedStart, FeedSlice } from "./feed-tail.ts";

/**
 * What became of a slice. `gap`: items before it are missing. `lost`: the copy has output that the job went on without;
 * docs/internals/streams.md, "Positions". `ended`: the copy is whole.
 */
type ReplicaChange = "taken" | "gap" | "lost" | "ended";

/**
 * Keeps a feed equal to that of a job which another coordinator has, from slices of a source: that coordinator's feed, or storage. Another
 * source has the same items, and states in other places between them, so items are counted as a `FeedCursor` counts them: what the copy
 * has is not repeated.
 */
export class FeedReplica {
  readonly feed: WritableFeed;
  /** Items of the copy. */
  #outputs: number;
  #statuses: number;
  /** Where the source is. */
  #index = 0;
  #sourceOutputs = 0;
  #sourceStatuses = 0;

  /** `feed`: loaded, open, and written by nobody else. */
  constructor(feed: WritableFeed) {
    this.feed = feed;
    this.#outputs = feed.start.outputs;
    this.#statuses = feed.start.statuses;
    for (const { type } of feed.items) this.#count(type);
  }

  /** A copy that has nothing yet, of all that comes after `start`. */
  static of(jobId: string, start = FEED_START): FeedReplica {
    return new FeedReplica(new JobFeed(jobId, [], null, start));
  }

  /** What the copy has, as a reader says it. */
  get position(): FeedPosition {
    const [outputs, statuses] = [this.#outputs, this.#statuses];
    return { outputs, statuses, attempt: this.feed.attemptOf(outputs), ended: false };
  }

  /** Index of the source's next item. */
  get index(): number {
    return this.#index;
  }

  /** The slices that follow are those of another source, or of another place. The copy's position is not lost there. */
  begin({ index, outputs, statuses }: FeedStart): void {
    this.#index = index;
    this.#sourceOutputs = outputs;
    this.#sourceStatuses = statuses;
  }

  /** Takes what is new in a slice. One that was taken before has nothing new. */
  take({ from, parts, ending, promptTokens }: FeedSlice): ReplicaChange {
    if (this.feed.ending !== null) return "ended";
    if (from > this.#index) return "gap";
    // Before the output, whose reader wants to know it first.
    if (promptTokens !== undefined) this.feed.notePrompt(promptTokens);
    let known = this.#index - from;
    for (const { attempt, items } of parts) {
      const fresh: FeedItem[] = [];
      for (const item of items) {
        if (known > 0) known -= 1;
        else if (this.#isNew(item)) fresh.push(item);
        else if (item.type !== "status" && this.#isOfAnother(attempt)) return "lost";
      }
      if (fresh.length > 0) this.feed.push(fresh, attempt);
    }
    if (ending === null || known > 0) return "taken";
    if (this.#sourceOutputs < this.#outputs) return "lost";
    this.feed.end(ending);
    return "ended";
  }

  /** Whether the copy has the source's present output from another attempt. It does not know who made what came before its start. */
  #isOfAnother(attempt: number): boolean {
    const isKnown = this.#sourceOutputs >= this.feed.start.outputs;
    return isKnown && this.feed.attemptOf(this.#sourceOutputs) !== attempt;
  }

  /** Moves on in the source, past `item`. True if the copy lacks it; it is counted then. */
  #isNew({ type }: FeedItem): boolean {
    this.#index += 1;
    if (type === "status") {
      this.#sourceStatuses += 1;
      if (this.#sourceStatuses <= this.#statuses) return false;
    } else {
      this.#sourceOutputs += 1;
      if (this.#sourceOutputs <= this.#outputs) return false;
    }
    this.#count(type);
    return true;
  }

  #count(type: FeedItem["type"]): void {
    if (type === "status") this.#statuses += 1;
    else this.#outputs += 1;
  }
}
