export type Written = (error?: Error | null) => void;

export interface Piece {
  data: Buffer;
  readonly onWritten: Written | undefined;
}

/** Largest piece that is given to the library at once; what the client does not read of it is held in memory. */
const MAX_PIECE_BYTES = 65_536;

/** What an answer has to write, in pieces that the library gets one by one. */
export class UnwrittenPieces {
  #pieces: Piece[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get first(): Piece | undefined {
    return this.#pieces[0];
  }

  /** `onWritten` is called when the last piece is written. */
  add(chunk: string | Uint8Array, onWritten: Written | undefined): void {
    const data =
      typeof chunk === "string" ? Buffer.from(chunk) : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    this.#bytes += data.length;
    for (let start = 0; start < data.length || start === 0; start += MAX_PIECE_BYTES) {
      const isLast = start + MAX_PIECE_BYTES >= data.length;
      const part = data.subarray(start, start + MAX_PIECE_BYTES);
      this.#pieces.push({ data: part, onWritten: isLast ? onWritten : undefined });
    }
  }

  /** The first piece is written. */
  shift(): void {
    const piece = this.#pieces.shift();
    this.#bytes -= piece?.data.length ?? 0;
    piece?.onWritten?.();
  }

  /** So many bytes of the first piece are written. */
  cut(bytes: number): void {
    const [piece] = this.#pieces;
    if (piece === undefined) return;
    piece.data = piece.data.subarray(bytes);
    this.#bytes -= bytes;
  }

  /** All that is left, as one, and whom to tell when it is written or lost. */
  takeAll(): { readonly body: Buffer; readonly settle: (error?: Error) => void } {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#bytes = 0;
    return {
      body: Buffer.concat(pieces.map(({ data }) => data)),
      settle: (error) => {
        for (const { onWritten } of pieces) onWritten?.(error);
      },
    };
  }
}
