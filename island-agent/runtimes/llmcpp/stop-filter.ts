/** Text with the number of tokens that made it. */
export interface Piece {
  readonly text: string;
  readonly count: number;
}

/**
 * Cuts a text that comes in pieces before the first stop sequence. Pieces that may begin one are held back whole until the next
 * decides: an answer that is cut off is continued from what was delivered, and must not be cut within a token.
 * LlamaChat's own stop triggers are not used: at `max_tokens` they lose the text that they hold.
 */
export class StopFilter {
  readonly #stops: readonly string[];
  #held: readonly Piece[] = [];
  #isStopped = false;

  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  /** True once a stop sequence came. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Takes the next piece and returns what may be delivered; its text may be empty. */
  push(piece: Piece): Piece {
    const pieces = [...this.#held, piece];
    const { text, count } = join(pieces);
    const cut = Math.min(...this.#stops.map((stop) => text.indexOf(stop)).filter((index) => index >= 0));
    if (Number.isFinite(cut)) {
      this.#isStopped = true;
      this.#held = [];
      return { text: text.slice(0, cut), count };
    }
    let heldLength = Math.max(0, ...this.#stops.map((stop) => overlap(text, stop)));
    let first = pieces.length;
    while (heldLength > 0) heldLength -= pieces[--first]?.text.length ?? heldLength;
    this.#held = pieces.slice(first);
    return join(pieces.slice(0, first));
  }

  /** What is still held when the model has ended without completing a stop sequence. */
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

/** Length of the longest end of `text` that begins `stop`, less than the whole of `stop`. */
function overlap(text: string, stop: string): number {
  for (let length = Math.min(text.length, stop.length - 1); length > 0; length--) {
    if (text.endsWith(stop.slice(0, length))) return length;
  }
  return 0;
}
