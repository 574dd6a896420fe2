import type { Feed } from "../../jobs/feed.ts";
import type { Clock } from "../../../shared/clock.ts";
import { untilFeed } from "./feed-wait.ts";

/**
 * Resolves when the job's end is durable, `waitMs` have passed, or the client is gone; then nothing is kept of the wait. The feed
 * tells of the end, so that waiting costs a timer and no look into storage.
 */
export async function untilEnded(feed: Feed, waitMs: number, clock: Clock, gone: AbortSignal): Promise<void> {
  const over = new AbortController();
  const stop = (): void => over.abort();
  const timer = clock.schedule(waitMs, stop);
  gone.addEventListener("abort", stop);
  if (gone.aborted) stop();
  try {
    await untilFeed(feed, ({ ending }) => ending !== null, over.signal);
  } finally {
    timer.cancel();
    gone.removeEventListener("abort", stop);
  }
}
