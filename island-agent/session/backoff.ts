/** Waits between attempts to reconnect: doubling from `firstMs` to `maxMs`, each cut to a random half, so that Islands do not return all at once. */
export class Backoff {
  readonly #firstMs: number;
  readonly #maxMs: number;
  readonly #random: () => number;
  #failures = 0;

  constructor(firstMs: number, maxMs: number, random: () => number = Math.random) {
    this.#firstMs = firstMs;
    this.#maxMs = maxMs;
    this.#random = random;
  }

  /** Between half of the present step and all of it. */
  nextMs(): number {
    const stepMs = Math.min(this.#maxMs, this.#firstMs * 2 ** this.#failures);
    this.#failures += 1;
    return stepMs / 2 + (this.#random() * stepMs) / 2;
  }

  reset(): void {
    this.#failures = 0;
  }
}
