/** Pause between two repaints of a growing text. It is longer for a long text, so that the page stays responsive. */
const PAUSE_MS = { least: 33, most: 500 };
const CHARACTERS_PER_MS = 1_000;

/** Limits how often a growing text is repainted. The last piece is always painted. */
export class Repaints {
  readonly #paint: () => void;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #paintedMs = Number.NEGATIVE_INFINITY;

  constructor(paint: () => void) {
    this.#paint = paint;
  }

  /** Paints now, or after the pause. `characters`: length of the text. */
  schedule(characters: number): void {
    if (this.#timer !== null) return;
    const pauseMs = Math.min(PAUSE_MS.most, Math.max(PAUSE_MS.least, characters / CHARACTERS_PER_MS));
    const restMs = this.#paintedMs + pauseMs - performance.now();
    if (restMs <= 0) this.now();
    else this.#timer = setTimeout(() => this.now(), restMs);
  }

  now(): void {
    this.cancel();
    this.#paintedMs = performance.now();
    this.#paint();
  }

  cancel(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
