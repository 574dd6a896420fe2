import { sleep } from "./timing.ts";

/** First pause after a quick response. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 4_000;
/** Shortest duration of a long poll. After a response this slow, the next request needs no pause. */
const MIN_LONG_POLL_MS = 5_000;

/** Calls `request` until `isOver` returns true. Pauses grow while responses are quick, for example without long polling. */
export async function poll<T>(
  request: () => Promise<T>,
  isOver: (response: T) => boolean,
  signal: AbortSignal | undefined,
): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ;) {
    const beganMs = performance.now();
    const response = await request();
    if (isOver(response)) return response;
    if (performance.now() - beganMs >= MIN_LONG_POLL_MS) {
      pauseMs = FIRST_PAUSE_MS;
      continue;
    }
    await sleep(pauseMs, signal);
    pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2);
  }
}
