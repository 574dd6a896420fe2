import type { Clock, Timer } from "../../../shared/clock.ts";
import type { Overview } from "../../events/overview.ts";

/** Between two looks, each of which may ask all coordinators. */
const LOOK_MS = 2_000;

/** Looks at the overview for one reader, and keeps it until it is taken, if it is another one than the reader had last. */
export class OverviewWatch {
  readonly #read: () => Promise<Overview>;
  readonly #clock: Pick<Clock, "schedule">;
  readonly #onNews: () => void;
  #timer: Timer | null = null;
  #news: Overview | null = null;
  #lastJson = "";
  #isClosed = false;

  /** `onNews`: called when there is something to {@link take}. */
  constructor(read: () => Promise<Overview>, clock: Pick<Clock, "schedule">, onNews: () => void) {
    this.#read = read;
    this.#clock = clock;
    this.#onNews = onNews;
    void this.#look();
  }

  get hasNews(): boolean {
    return this.#news !== null;
  }

  /** Null for nothing new. */
  take(): Overview | null {
    const news = this.#news;
    this.#news = null;
    return news;
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  async #look(): Promise<void> {
    // Storage or others may be away: the next look may tell.
    const overview = await this.#read().catch(() => null);
    if (this.#isClosed) return;
    this.#timer = this.#clock.schedule(LOOK_MS, () => void this.#look());
    const json = JSON.stringify(overview);
    if (overview === null || json === this.#lastJson) return;
    this.#lastJson = json;
    this.#news = overview;
    this.#onNews();
  }
}
