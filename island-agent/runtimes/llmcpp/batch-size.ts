/** Target duration of a batch. A run is aborted between batches, so this keeps the delay well below a second. */
const TARGET_MS = 500;
const MIN_TOKENS = 32;
/** Maximum share of the time that a batch with half the tokens may take; otherwise it is not used. */
const MAX_TIME_SHARE = 0.75;

interface Measured {
  readonly tokens: number;
  readonly ms: number;
}

/**
 * Chooses the maximum number of tokens of the next batch. A token late in a long prompt takes many times as long as the
 * first one, and CPUs take seconds for what a GPU evaluates in milliseconds. The size therefore follows the measured
 * time. If a smaller batch takes nearly as long, as with more busy threads than CPUs, it would only slow the prompt
 * down.
 */
export class BatchSize {
  readonly #max: number;
  #tokens: number;
  #last: Measured | null = null;

  /** @param max Maximum batch size of the context. The first batch is small, because the model's speed is unknown. */
  constructor(max: number) {
    this.#max = max;
    this.#tokens = Math.min(max, MIN_TOKENS);
  }

  get tokens(): number {
    return this.#tokens;
  }

  /** Records a batch. Batches that were not full are ignored. */
  note(batch: Measured): void {
    if (batch.tokens < this.#tokens) return;
    const last = this.#last;
    this.#last = batch;
    const factor = last === null ? 2 : factorOf(last, batch);
    this.#tokens = Math.min(this.#max, Math.max(MIN_TOKENS, Math.floor(batch.tokens * factor)));
  }
}

function factorOf(last: Measured, { tokens, ms }: Measured): number {
  if (tokens < last.tokens && ms > MAX_TIME_SHARE * last.ms) return 2;
  if (tokens > last.tokens && last.ms > MAX_TIME_SHARE * ms) return 2;
  if (ms > TARGET_MS) return 0.5;
  return 2 * ms <= TARGET_MS ? 2 : 1;
}
