import { abortable } from "./abortable.ts";
import type { Clock, Timer } from "../clock.ts";

/**
 * Time limit for one part of an orderly stop. State that is not durable when the limit passes is restored at the next
 * start or adopted by other coordinators.
 */
export class CloseLimit {
  readonly #passed = new AbortController();
  readonly #timer: Timer | null;

  /** @param ms null for no limit */
  constructor(clock: Pick<Clock, "schedule">, ms: number | null) {
    this.#timer = ms === null ? null : clock.schedule(ms, () => this.#passed.abort());
  }

  /** Aborts when the limit has passed. */
  get signal(): AbortSignal {
    return this.#passed.signal;
  }

  /**
   * Resolves when the work is done or the limit has passed. The work then continues unobserved. @throws errors of the
   * work before the limit
   */
  async within(work: Promise<unknown> | undefined): Promise<void> {
    try {
      await abortable(Promise.resolve(work), this.signal);
    } catch (error) {
      if (!this.signal.aborted) throw error;
    }
  }

  end(): void {
    this.#timer?.cancel();
  }
}
