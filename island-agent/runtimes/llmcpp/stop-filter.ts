export interface Piece {
  readonly text: string;
  readonly count: number;
}

/**
 * Cuts streamed text before the first stop sequence. Pieces that may start a stop sequence are held back until later
 * pieces show whether they do. Whole pieces are held back: an interrupted completion is resumed from the delivered
 * text, which must not end within a token. LlamaChat's stop triggers are not used: at `max_tokens` they lose the text
 * that they hold back.
 */
export class StopFilter {
  readonly #stops: readonly string[];
  #held: readonly Piece[] = [];
  #stop: string | null = null;

  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  /** Whether a stop sequence was found. */
  get isStopped(): boolean {
    return this.#stop !== null;
  }

  /** Stop sequence before which the text was cut: the longest one if several start there. */
  get stop(): string | null {
    return this.#stop;
  }

  /** Adds a piece and returns the text that can be delivered now; it may be empty. */
  push(piece: Piece): Piece {
    const pieces = [...this.#held, piece];
    const { text, count } = join(pieces);
    const cut = Math.min(...this.#stops.map((stop) => text.indexOf(stop)).filter((index) => index >= 0));
    if (Number.isFinite(cut)) {
      const found = this.#stops.filter((stop) => text.startsWith(stop, cut));
      this.#stop = found.reduce((longest, stop) => (stop.length > longest.length ? stop : longest));
      this.#held = [];
      return { text: text.slice(0, cut), count };
    }
    let heldLength = Math.max(0, ...this.#stops.map((stop) => overlap(text, stop)));
    let first = pieces.length;
    while (heldLength > 0) heldLength -= pieces[--first]?.text.length ?? heldLength;
    this.#held = pieces.slice(first);
    return join(pieces.slice(0, first));
  }

  /** Returns the held-back text, after the model has ended without completing a stop sequence. */
  end(): Piece {
    const held = join(this.#held);
    this.#held = [];
    return held;
  }
}

function join(pieces: readonly Piece[]): Piece {
  return {
    text: pieces.map(({ text }) => text).join(""),
    count: pieces.reduce((sum, { count }) => sum + count, 0),
  };
}

/** Returns the length of the longest suffix of `text` that is a proper prefix of `stop`. */
function overlap(text: string, stop: string): number {
  for (let length = Math.min(text.length, stop.length - 1); length > 0; length--) {
    if (text.endsWith(stop.slice(0, length))) return length;
  }
  return 0;
}
