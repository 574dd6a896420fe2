import { sleep } from "./timing.ts";

/** First pause after a quick response. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 4_000;
/** Shortest duration of a long poll. After a response this slow, the next request needs no pause. */
const MIN_LONG_POLL_MS = 5_000;

/** Calls `ask` until `isOver` returns true. Pauses grow while responses are quick, as they are without long polling. */
export async function poll<T>(
  ask: () => Promise<T>,
  isOver: (answer: T) => boolean,
  signal: AbortSignal | undefined,
): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ;) {
    const askedMs = performance.now();
    const answer = await ask();
    if (isOver(answer)) return answer;
    if (performance.now() - askedMs >= MIN_LONG_POLL_MS) {
      pauseMs = FIRST_PAUSE_MS;
      continue;
    }
    await sleep(pauseMs, signal);
    pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2);
  }
}
