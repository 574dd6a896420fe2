import type { Clock, Timer } from "../../../shared/clock.ts";
import type { Overview } from "../../operators/network-view.ts";
import { presentOverview, presentQueueLine } from "../schemas/operator-schemas.ts";

/** Between two looks, each of which may ask all coordinators. */
const LOOK_MS = 2_000;

/** Takes overviews for one stream: always the last one. */
export interface OverviewReader {
  hasNews(): boolean;
  /** Data of the event; null for nothing new. */
  take(): string | null;
  /** May be called twice. */
  close(): void;
}

/**
 * The overview of the network for all streams of this coordinator that want it: one look serves all of them, and nobody looks while there is
 * none.
 * @returns Opens a reader. `onNews`: called when there is something to take.
 */
export function overviewFeed(
  read: () => Promise<Overview>,
  clock: Pick<Clock, "schedule">,
): (onNews: () => void) => OverviewReader {
  const listeners = new Set<() => void>();
  let timer: Timer | null = null;
  let isLooking = false;
  /** Data of the event; null before the first look. */
  let data: string | null = null;
  /** What `data` was made of, and the queue, which other pages read again at each event. */
  let seen = "";
  /** Counts overviews that were told. */
  let version = 0;

  const look = async (): Promise<void> => {
    isLooking = true;
    // Storage or others may be away: the next look may tell.
    const overview = await read().catch(() => null);
    isLooking = false;
    if (listeners.size === 0) return;
    timer = clock.schedule(LOOK_MS, () => void look());
    if (overview === null) return;
    const shown = presentOverview(overview);
    const now = JSON.stringify([shown, overview.queue.map(presentQueueLine)]);
    if (now === seen) return;
    seen = now;
    data = JSON.stringify({ type: "overview", ...shown });
    version += 1;
    for (const onNews of listeners) onNews();
  };

  return (onNews) => {
    let taken = 0;
    listeners.add(onNews);
    if (timer === null && !isLooking) void look();
    const hasNews = (): boolean => data !== null && taken < version;
    return {
      hasNews,
      take: () => {
        if (!hasNews()) return null;
        taken = version;
        return data;
      },
      close: () => {
        listeners.delete(onNews);
        if (listeners.size > 0) return;
        timer?.cancel();
        timer = null;
        // What is older than the next listener is no news to it.
        data = null;
        seen = "";
      },
    };
  };
}
