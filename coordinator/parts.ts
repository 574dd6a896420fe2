import { CloseLimit } from "../shared/async/close-limit.ts";
import type { Clock } from "../shared/clock.ts";

/** How long each half of a stop may take: what clients and Islands wait for, and what is left with a database that is away. */
export const MAX_CLOSE_MS = 2_000;

/** A part of a coordinator that has to be stopped. */
export interface Part {
  /** Begins no more work, and resolves when what clients and Islands wait for is over, or soon after the limit has passed. */
  drain?(limit: CloseLimit): Promise<unknown> | void;
  close?(): Promise<unknown> | void;
}

/**
 * What was opened so far. A stop has two halves: all parts drain at once, then each closes, the last one opened first. Leaving the scope
 * without {@link release} is a failed start, which closes what it has opened.
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

  /** Returns what stops all parts. @param maxMs How long the second half may take after Islands and clients have gone; null: no limit. */
  release(maxMs: number | null): () => Promise<void> {
    this.#isReleased = true;
    return () => this.#stop(maxMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The fault that ended the start is the one to show.
    if (!this.#isReleased) await this.#stop(MAX_CLOSE_MS).catch(() => undefined);
  }

  /** Stops all parts, also when one of them fails. @throws what the first that failed threw. */
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
      // Each may use those that were opened before it.
      // oxlint-disable-next-line no-await-in-loop
      await attempt(() => closed.within(Promise.resolve(part.close?.())));
    }
    closed.end();
    if (faults.length > 0) throw faults[0];
  }
}
