/** Waits between attempts: they double from `firstMs` to `maxMs`, less a random part of up to a half, so that Islands do not reconnect all at once. */
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

  /** Between half of the present step and the full step. */
  nextMs(): number {
    const stepMs = Math.min(this.#maxMs, this.#firstMs * 2 ** this.#failures);
    this.#failures += 1;
    return stepMs / 2 + (this.#random() * stepMs) / 2;
  }

  reset(): void {
    this.#failures = 0;
  }
}
