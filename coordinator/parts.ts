import { CloseLimit } from "../shared/async/close-limit.ts";
import type { Clock } from "../shared/clock.ts";

/** Time limit of each half of a stop: until clients and Islands are disconnected, and until all parts are closed. */
export const MAX_CLOSE_MS = 2_000;

export interface Part {
  /** Resolves when everything that clients and Islands wait for is done, or soon after the limit. */
  drain?(limit: CloseLimit): Promise<unknown> | void;
  close?(): Promise<unknown> | void;
}

/**
 * Opens a stack of parts. A stop has two halves: all parts drain concurrently, then each closes, the last opened first.
 * Leaving the scope without `release()` closes the opened parts.
 */
export function openParts(clock: Pick<Clock, "schedule">) {
  const opened: Part[] = [];
  let isReleased = false;

  /** Stops all parts, even if one of them fails. @throws the first error */
  async function stop(maxMs: number | null): Promise<void> {
    const faults: unknown[] = [];
    const attempt = async (step: () => Promise<unknown> | void): Promise<void> => {
      try {
        await step();
      } catch (error) {
        faults.push(error);
      }
    };
    const lastFirst = opened.splice(0).reverse();
    const drained = new CloseLimit(clock, MAX_CLOSE_MS);
    await Promise.all(lastFirst.map((part) => attempt(() => part.drain?.(drained))));
    drained.end();
    const closed = new CloseLimit(clock, maxMs);
    for (const part of lastFirst) {
      // Closed one after another: a part may use the parts opened before it.
      // oxlint-disable-next-line no-await-in-loop
      await attempt(() => closed.within(Promise.resolve(part.close?.())));
    }
    closed.end();
    if (faults.length > 0) throw faults[0];
  }

  return {
    add<P extends Part>(part: P): P {
      opened.push(part);
      return part;
    },
    /**
     * Returns a function that stops all parts.
     * @param maxMs time limit of the second half, after Islands and clients are disconnected; null for no limit
     */
    release(maxMs: number | null): () => Promise<void> {
      isReleased = true;
      return () => stop(maxMs);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      // An error of the stop must not hide the error that ended the start.
      if (!isReleased) await stop(MAX_CLOSE_MS).catch(() => undefined);
    },
  };
}
