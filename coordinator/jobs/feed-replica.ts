import type { FeedItem } from "../store/jobs/job-store.ts";
import { JobFeed, type WritableFeed } from "./feed.ts";
import { FEED_START, type FeedPosition } from "./feed-position.ts";
import type { FeedStart, FeedSlice } from "./feed-tail.ts";

/**
 * The effect of a slice on a replica. `taken`: its new items were added. `gap`: items before the slice are missing.
 * `lost`: the replica has output that the job continued without; see docs/internals/streams.md, "Positions". `ended`:
 * the replica is complete.
 */
type ReplicaChange = "taken" | "gap" | "lost" | "ended";

/**
 * A replica of the feed of a job that another coordinator has, made of slices of that feed or of storage. Both sources
 * have the same items, but their status items may stand between different outputs. Outputs and statuses are therefore
 * counted separately, as in a `FeedCursor`.
 */
export class FeedReplica {
  readonly feed: WritableFeed;
  #outputs: number;
  #statuses: number;
  /** Index of the next item in the source. */
  #index = 0;
  #sourceOutputs = 0;
  #sourceStatuses = 0;

  /** @param feed A loaded, open feed without other writers. */
  constructor(feed: WritableFeed) {
    this.feed = feed;
    this.#outputs = feed.start.outputs;
    this.#statuses = feed.start.statuses;
    for (const { type } of feed.items) this.#count(type);
  }

  static of(jobId: string, start = FEED_START): FeedReplica {
    return new FeedReplica(new JobFeed(jobId, [], null, start));
  }

  get position(): FeedPosition {
    const [outputs, statuses] = [this.#outputs, this.#statuses];
    return { outputs, statuses, attempt: this.feed.attemptOf(outputs), ended: false };
  }

  get index(): number {
    return this.#index;
  }

  /** Continues at another source, or at another position of the same source. The replica keeps its items. */
  begin({ index, outputs, statuses }: FeedStart): void {
    this.#index = index;
    this.#sourceOutputs = outputs;
    this.#sourceStatuses = statuses;
  }

  /** Adds the items of a slice that the replica lacks, and returns the effect. */
  take({ from, parts, ending, promptTokens }: FeedSlice): ReplicaChange {
    if (this.feed.ending !== null) return "ended";
    if (from > this.#index) return "gap";
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

  /**
   * Returns true if the replica has this output of the source from another attempt. Returns false before the replica's
   * start, where attempts are unknown.
   */
  #isOfAnother(attempt: number): boolean {
    const isKnown = this.#sourceOutputs >= this.feed.start.outputs;
    return isKnown && this.feed.attemptOf(this.#sourceOutputs) !== attempt;
  }

  /** Moves past `item` in the source. Returns true, and counts the item, if the replica lacks it. */
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
