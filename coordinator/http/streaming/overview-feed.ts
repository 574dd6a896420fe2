import type { Clock, Timer } from "../../../shared/clock.ts";
import type { Overview } from "../../operators/network-view.ts";
import { presentOverview, presentQueueLine } from "../schemas/operator-schemas.ts";

const POLL_MS = 2_000;

/** Reads the latest overview for one stream. */
export interface OverviewReader {
  hasChanged(): boolean;
  /** Returns the data of the next event; null if nothing has changed. */
  take(): string | null;
  /** Ends the reading. May be called twice. */
  close(): void;
}

/**
 * Polls the network's overview once for all streams of this coordinator, while there is at least one stream.
 * @returns A function that opens a reader and calls `onChange` when `take` has something to return.
 */
export function overviewFeed(
  read: () => Promise<Overview>,
  clock: Pick<Clock, "schedule">,
): (onChange: () => void) => OverviewReader {
  const listeners = new Set<() => void>();
  let timer: Timer | null = null;
  let isPolling = false;
  let data: string | null = null;
  /** JSON of the last overview and its queue, which console pages fetch again at each event. */
  let seen = "";
  let version = 0;

  const poll = async (): Promise<void> => {
    isPolling = true;
    // Storage or other coordinators may be unavailable; the next poll may succeed.
    const overview = await read().catch(() => null);
    isPolling = false;
    if (listeners.size === 0) return;
    timer = clock.schedule(POLL_MS, () => void poll());
    if (overview === null) return;
    const shown = presentOverview(overview);
    const now = JSON.stringify([shown, overview.queue.map(presentQueueLine)]);
    if (now === seen) return;
    seen = now;
    data = JSON.stringify({ type: "overview", ...shown });
    version += 1;
    for (const onChange of listeners) onChange();
  };

  return (onChange) => {
    let taken = 0;
    listeners.add(onChange);
    if (timer === null && !isPolling) void poll();
    const hasChanged = (): boolean => data !== null && taken < version;
    return {
      hasChanged,
      take: () => {
        if (!hasChanged()) return null;
        taken = version;
        return data;
      },
      close: () => {
        listeners.delete(onChange);
        if (listeners.size > 0) return;
        timer?.cancel();
        timer = null;
        // The next reader must start with a new poll.
        data = null;
        seen = "";
      },
    };
  };
}
