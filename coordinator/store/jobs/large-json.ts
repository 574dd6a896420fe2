import { setImmediate as nextTick } from "node:timers/promises";
import { KIB } from "../../../shared/format-bytes.ts";

/** JSON text with more characters is kept apart in storage, in pieces of this size, so that nobody holds all of it in memory. */
export const MAX_INLINE_CHARS = 64 * KIB;

/** Name of a large output among the large values of its job. */
export const OUTPUT_NAME = "output";

/** Names a large value: its name among those of its job, and the length of its text. */
export interface LargeRef {
  readonly name: string;
  readonly chars: number;
}

/** A large JSON value in storage: an image, or the output of a job. It costs a reader one piece at a time. */
export class LargeJson {
  /** Length of the JSON text, in UTF-16 units. */
  readonly chars: number;
  /** Among the large values of its job. */
  readonly name: string;
  readonly #readPiece: (index: number) => Promise<string | undefined>;
  #written: Promise<unknown> | null;

  /**
   * @param readPiece piece number `index`, counted from 0; undefined when there is none.
   * @param stored `written`: resolves when it is in storage; absent for what is there.
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
    // A write that fails is the writer's affair: this value is never written then.
    this.#written?.then(
      () => {
        this.#written = null;
      },
      () => undefined,
    );
  }

  /** Resolves when it is in storage, where other coordinators find it; null once it is. */
  get written(): Promise<unknown> | null {
    return this.#written;
  }

  /** The JSON text, in order. @throws when it was deleted meanwhile. */
  async *pieces(): AsyncGenerator<string, void, void> {
    let read = 0;
    for (let index = 0; read < this.chars; index += 1) {
      const piece = await this.#readPiece(index);
      if (piece === undefined) throw new Error("A large output was deleted while it was read");
      read += piece.length;
      yield piece;
      // Storage answers at once and sockets may take all of it: others are served in between.
      await nextTick();
    }
  }

  /** The value itself, for code that cannot work on its text. */
  async value(): Promise<unknown> {
    let text = "";
    for await (const piece of this.pieces()) text += piece;
    return JSON.parse(text) as unknown;
  }
}

/** A row of `large_pieces`, without its job. */
export interface Piece {
  readonly name: string;
  readonly piece: number;
  readonly text: string;
}

export function piecesToWrite({ name, json }: { readonly name: string; readonly json: string }): Piece[] {
  return piecesOf(json).map((text, piece) => ({ name, piece, text }));
}

/** Cuts JSON text for storage, never inside a surrogate pair, which UTF-8 could not store. */
function piecesOf(json: string): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < json.length;) {
    let to = Math.min(from + MAX_INLINE_CHARS, json.length);
    if (to < json.length && isHighSurrogate(json.charCodeAt(to - 1))) to -= 1;
    pieces.push(json.slice(from, to));
    from = to;
  }
  return pieces;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd8_00 && unit <= 0xdb_ff;
}
