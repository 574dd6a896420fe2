import type { Clock, Timer } from "../../../shared/clock.ts";
import type { NetworkView } from "../../operators/network-view.ts";
import { presentOverview, presentQueueLine } from "../schemas/operator-schemas.ts";

export interface OverviewFeedDeps {
  readonly network: Pick<NetworkView, "overview">;
  readonly clock: Pick<Clock, "schedule">;
}

/** Between two looks, each of which may ask all coordinators. */
const LOOK_MS = 2_000;

/**
 * The overview of the network for all streams of this coordinator that want it: one look serves all of them, and nobody looks while there is
 * none.
 */
export class OverviewFeed {
  readonly #deps: OverviewFeedDeps;
  readonly #listeners = new Set<() => void>();
  #timer: Timer | null = null;
  #isLooking = false;
  /** Data of the event; null before the first look. */
  #data: string | null = null;
  /** What {@link #data} was made of, and the queue, which other pages read again at each event. */
  #seen = "";
  /** Counts overviews that were told. */
  #version = 0;

  constructor(deps: OverviewFeedDeps) {
    this.#deps = deps;
  }

  get version(): number {
    return this.#version;
  }

  get data(): string | null {
    return this.#data;
  }

  /** `onNews`: called when there is something to take. */
  open(onNews: () => void): OverviewReader {
    this.#listeners.add(onNews);
    if (this.#timer === null && !this.#isLooking) void this.#look();
    return new OverviewReader(this, () => this.#leave(onNews));
  }

  #leave(onNews: () => void): void {
    this.#listeners.delete(onNews);
    if (this.#listeners.size > 0) return;
    this.#timer?.cancel();
    this.#timer = null;
    this.#forget();
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    // Storage or others may be away: the next look may tell.
    const overview = await this.#deps.network.overview().catch(() => null);
    this.#isLooking = false;
    if (this.#listeners.size === 0) return;
    this.#timer = this.#deps.clock.schedule(LOOK_MS, () => void this.#look());
    if (overview === null) return;
    const shown = presentOverview(overview);
    const seen = JSON.stringify([shown, overview.queue.map(presentQueueLine)]);
    if (seen === this.#seen) return;
    this.#seen = seen;
    this.#data = JSON.stringify({ type: "overview", ...shown });
    this.#version += 1;
    for (const onNews of this.#listeners) onNews();
  }

  /** What is older than the next listener is no news to it. */
  #forget(): void {
    this.#data = null;
    this.#seen = "";
  }
}

/** Takes overviews for one stream: always the last one. */
export class OverviewReader {
  readonly #feed: OverviewFeed;
  readonly #onClose: () => void;
  #taken = 0;

  constructor(feed: OverviewFeed, onClose: () => void) {
    this.#feed = feed;
    this.#onClose = onClose;
  }

  get hasNews(): boolean {
    return this.#feed.data !== null && this.#taken < this.#feed.version;
  }

  /** Data of the event; null for nothing new. */
  take(): string | null {
    if (!this.hasNews) return null;
    this.#taken = this.#feed.version;
    return this.#feed.data;
  }

  /** May be called twice. */
  close(): void {
    this.#onClose();
  }
}
