import { setImmediate as nextTick } from "node:timers/promises";
import { KIB } from "../../../shared/format-bytes.ts";

/**
 * Maximum length of JSON that is stored inline. Longer JSON is stored in pieces, so that readers load one at a time.
 */
export const MAX_INLINE_CHARS = 64 * KIB;

export const OUTPUT_NAME = "output";

/** Reference to a large value. `name`: unique within the job. `chars`: length of the JSON text in UTF-16 units. */
export interface LargeRef {
  readonly name: string;
  readonly chars: number;
}

/** A large JSON value in storage: an image, or the output of a job. Readers load one piece at a time. */
export class LargeJson implements LargeRef {
  readonly chars: number;
  readonly name: string;
  readonly #readPiece: (index: number) => Promise<string | undefined>;
  #written: Promise<unknown> | null;

  /**
   * @param readPiece returns piece number `index`, counted from 0; undefined if there is no such piece.
   * @param stored `written`: resolves when the value is in storage; absent if the value already is.
   */
  constructor(
    chars: number,
    readPiece: (index: number) => Promise<string | undefined>,
    stored: { readonly name: string; readonly written?: Promise<unknown> | undefined } = { name: OUTPUT_NAME },
  ) {
    this.chars = chars;
    this.name = stored.name;
    this.#readPiece = readPiece;
    this.#written = stored.written ?? null;
    // The writer handles a failed write, after which the value cannot be read.
    this.#written?.then(
      () => {
        this.#written = null;
      },
      () => undefined,
    );
  }

  /** Promise that resolves when the value is in storage, where other coordinators can read it; null once it is. */
  get written(): Promise<unknown> | null {
    return this.#written;
  }

  /** Yields the pieces of the JSON text in order. @throws if the value is deleted during the read. */
  async *pieces(): AsyncGenerator<string, void, void> {
    let read = 0;
    for (let index = 0; read < this.chars; index += 1) {
      const piece = await this.#readPiece(index);
      if (piece === undefined) throw new Error("Large output was deleted during the read");
      read += piece.length;
      yield piece;
      // Other work gets a turn: storage and sockets may respond without a pause.
      await nextTick();
    }
  }

  async value(): Promise<unknown> {
    let text = "";
    for await (const piece of this.pieces()) text += piece;
    return JSON.parse(text) as unknown;
  }
}

/** A row of `large_pieces` without its job id. */
export interface Piece {
  readonly name: string;
  readonly piece: number;
  readonly text: string;
}

/** Splits JSON text into pieces, never inside a surrogate pair, whose halves UTF-8 cannot encode. */
export function splitLarge({ name, json }: { readonly name: string; readonly json: string }): Piece[] {
  const pieces: Piece[] = [];
  for (let from = 0; from < json.length;) {
    let to = Math.min(from + MAX_INLINE_CHARS, json.length);
    if (to < json.length && isHighSurrogate(json.charCodeAt(to - 1))) to -= 1;
    pieces.push({ name, piece: pieces.length, text: json.slice(from, to) });
    from = to;
  }
  return pieces;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd8_00 && unit <= 0xdb_ff;
}
