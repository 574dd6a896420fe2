import type { Feed } from "./feed.ts";

/** Resolves once `isReady` is true for the feed, or `signal` is aborted. */
export function untilFeed(feed: Feed, isReady: (feed: Feed) => boolean, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true || isReady(feed)) {
      resolve();
      return;
    }
    const settle = (): void => {
      unsubscribe();
      signal?.removeEventListener("abort", settle);
      resolve();
    };
    const unsubscribe = feed.subscribe(() => {
      if (isReady(feed)) settle();
    });
    signal?.addEventListener("abort", settle);
  });
}

/** Opens the feed, and again after a cut, until `isReady` is true or `signal` is aborted. @throws Errors of `open`. */
export async function openUntil(
  open: () => Promise<Feed>,
  isReady: (feed: Feed) => boolean,
  signal?: AbortSignal,
): Promise<Feed> {
  for (;;) {
    const feed = await open();
    await untilFeed(feed, (now) => now.isCut || isReady(now), signal);
    if (!feed.isCut || signal?.aborted === true) return feed;
  }
}
