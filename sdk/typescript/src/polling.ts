import { sleep } from "./timing.ts";

/** Pauses after answers that came at once. */
const FIRST_PAUSE_MS = 250;
const MOST_PAUSE_MS = 4_000;
/** An answer that took so long had waited for the end itself: asking again at once costs one request a while. */
const LONG_ANSWER_MS = 5_000;

/** Asks until `isOver`. Pauses grow while answers come at once, as they do where there is no long-poll. */
export async function poll<T>(
  ask: () => Promise<T>,
  isOver: (answer: T) => boolean,
  signal: AbortSignal | undefined,
): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ;) {
    const askedMs = performance.now();
    const answer = await ask();
    if (isOver(answer)) return answer;
    if (performance.now() - askedMs >= LONG_ANSWER_MS) {
      pauseMs = FIRST_PAUSE_MS;
      continue;
    }
    await sleep(pauseMs, signal);
    pauseMs = Math.min(MOST_PAUSE_MS, pauseMs * 2);
  }
}
