import { systemClock } from "../../../shared/clock.ts";
import { plainLines } from "../../../shared/cli/plain-text.ts";
import { outputWidth } from "./print.ts";
import { onStopSignal } from "./stop-signals.ts";

/** Moves the cursor to the upper left corner. Source: ECMA-48, CUP; the others are EL, ED and DECTCEM. */
const HOME = "\u001B[H";
const CLEAR_REST_OF_LINE = "\u001B[K";
const CLEAR_BELOW = "\u001B[J";
const HIDE_CURSOR = "\u001B[?25l";
const SHOW_CURSOR = "\u001B[?25h";

/** Shows a text on the whole terminal, again and again, until Ctrl-C or SIGTERM; what was shown last stays. @param read what to show. */
export async function watchScreen(read: () => Promise<string>, everyMs: number): Promise<void> {
  const stop = new AbortController();
  onStopSignal(() => stop.abort());
  // The screen is cleared below what is drawn: nothing scrolls away.
  process.stdout.write(`${HIDE_CURSOR}${HOME}${CLEAR_BELOW}`);
  try {
    while (!stop.signal.aborted) {
      const text = await read();
      if (stop.signal.aborted) return;
      process.stdout.write(`${HOME}${fitted(plainLines(text))}${CLEAR_BELOW}`);
      await systemClock.sleep(everyMs, stop.signal).catch(() => undefined);
    }
  } finally {
    process.stdout.write(SHOW_CURSOR);
  }
}

/** Lines that fit the terminal: one that wraps would move all that follows. The last row stays free for the cursor. */
function fitted(text: string): string {
  // A terminal that does not know its size says 0.
  const rows = process.stdout.rows || 24;
  const lines = text.split("\n").slice(0, Math.max(1, rows - 1));
  return lines.map((line) => `${line.slice(0, outputWidth())}${CLEAR_REST_OF_LINE}\n`).join("");
}
