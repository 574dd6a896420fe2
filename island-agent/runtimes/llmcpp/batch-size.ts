/** A run is aborted between batches, so this bounds how long it goes on: well below a second. */
const AIM_MS = 500;
const MIN_TOKENS = 32;
/** A batch with half the tokens is only worth it if it takes at most this part of the time. */
const WORTHWHILE = 0.75;

interface Measured {
  readonly tokens: number;
  readonly ms: number;
}

/**
 * How many tokens the next batch may have. A token late in a long prompt takes many times as long as the first one, and a model on
 * CPUs takes seconds for what a GPU evaluates in milliseconds, so the size follows the time that batches take. Where a smaller batch
 * takes nearly as long, as on a machine with more threads at work than CPUs, it would only slow the prompt down.
 */
export class BatchSize {
  readonly #max: number;
  #tokens: number;
  #last: Measured | null = null;

  /** @param max The most that the context takes. The first batch is small: nothing is known of the model. */
  constructor(max: number) {
    this.#max = max;
    this.#tokens = Math.min(max, MIN_TOKENS);
  }

  get tokens(): number {
    return this.#tokens;
  }

  /** A batch took `ms`. One that was not full says nothing of a full one. */
  note(batch: Measured): void {
    if (batch.tokens < this.#tokens) return;
    const last = this.#last;
    this.#last = batch;
    const factor = last === null ? 2 : factorOf(last, batch);
    this.#tokens = Math.min(this.#max, Math.max(MIN_TOKENS, Math.floor(batch.tokens * factor)));
  }
}

function factorOf(last: Measured, { tokens, ms }: Measured): number {
  if (tokens < last.tokens && ms > WORTHWHILE * last.ms) return 2;
  if (tokens > last.tokens && last.ms > WORTHWHILE * ms) return 2;
  if (ms > AIM_MS) return 0.5;
  return 2 * ms <= AIM_MS ? 2 : 1;
}
