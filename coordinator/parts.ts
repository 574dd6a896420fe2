import { CloseLimit } from "../shared/async/close-limit.ts";
import type { Clock } from "../shared/clock.ts";

/** Limit for each half of a stop: for what clients and Islands wait for, and for closing the rest while the database is unavailable. */
export const MAX_CLOSE_MS = 2_000;

/** A part of a coordinator that must be stopped. */
export interface Part {
  /** Starts no more work. Resolves when all that clients and Islands wait for is done, or soon after the limit has passed. */
  drain?(limit: CloseLimit): Promise<unknown> | void;
  close?(): Promise<unknown> | void;
}

/**
 * Stack of opened parts. A stop has two halves: all parts drain at once, then each closes, the last opened first. Leaving the scope without
 * {@link release} counts as a failed start and closes what was opened.
 */
export class Parts {
  readonly #clock: Pick<Clock, "schedule">;
  readonly #opened: Part[] = [];
  #isReleased = false;

  constructor(clock: Pick<Clock, "schedule">) {
    this.#clock = clock;
  }

  add<P extends Part>(part: P): P {
    this.#opened.push(part);
    return part;
  }

  /**
   * Returns a function that stops all parts.
   * @param maxMs limit of the second half, after Islands and clients have gone; null: no limit
   */
  release(maxMs: number | null): () => Promise<void> {
    this.#isReleased = true;
    return () => this.#stop(maxMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Report the error that ended the start, not one of the stop.
    if (!this.#isReleased) await this.#stop(MAX_CLOSE_MS).catch(() => undefined);
  }

  /** Stops all parts, even if one of them fails. @throws the first error */
  async #stop(maxMs: number | null): Promise<void> {
    const faults: unknown[] = [];
    const attempt = async (step: () => Promise<unknown> | void): Promise<void> => {
      try {
        await step();
      } catch (error) {
        faults.push(error);
      }
    };
    const lastFirst = this.#opened.splice(0).reverse();
    const drained = new CloseLimit(this.#clock, MAX_CLOSE_MS);
    await Promise.all(lastFirst.map((part) => attempt(() => part.drain?.(drained))));
    drained.end();
    const closed = new CloseLimit(this.#clock, maxMs);
    for (const part of lastFirst) {
      // A part may use the parts that were opened before it.
      // oxlint-disable-next-line no-await-in-loop
      await attempt(() => closed.within(Promise.resolve(part.close?.())));
    }
    closed.end();
    if (faults.length > 0) throw faults[0];
  }
}
