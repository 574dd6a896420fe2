/** Waits between attempts to reconnect: doubling from `firstMs` to `mostMs`, each cut to a random half, so that Islands do not return all at once. */
export class Backoff {
  readonly #firstMs: number;
  readonly #mostMs: number;
  readonly #random: () => number;
  #failures = 0;

  constructor(firstMs: number, mostMs: number, random: () => number = Math.random) {
    this.#firstMs = firstMs;
    this.#mostMs = mostMs;
    this.#random = random;
  }

  /** Between half of the present step and all of it. */
  nextMs(): number {
    const stepMs = Math.min(this.#mostMs, this.#firstMs * 2 ** this.#failures);
    this.#failures += 1;
    return stepMs / 2 + (this.#random() * stepMs) / 2;
  }

  reset(): void {
    this.#failures = 0;
  }
}
