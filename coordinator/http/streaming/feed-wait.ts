import type { Feed } from "../../jobs/feed.ts";

/** Resolves once `isReady` holds for the feed, or `signal` is aborted; then nothing listens any more. */
export function untilFeed(feed: Feed, isReady: (feed: Feed) => boolean, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || isReady(feed)) {
      resolve();
      return;
    }
    const settle = (): void => {
      unsubscribe();
      signal.removeEventListener("abort", settle);
      resolve();
    };
    const unsubscribe = feed.subscribe(() => {
      if (isReady(feed)) settle();
    });
    signal.addEventListener("abort", settle);
  });
}
