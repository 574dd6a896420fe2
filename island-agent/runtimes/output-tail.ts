/** Keeps the last bytes of a stream of any length. */
export class OutputTail {
  readonly #maxBytes: number;
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Memory in use, less than three times `maxBytes`. */
  get heldBytes(): number {
    return this.#pieces.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
  }

  push(bytes: Uint8Array): void {
    // Copy the piece, because it is a view of a far larger buffer.
    this.#pieces.push(Uint8Array.from(bytes.subarray(-this.#maxBytes)));
    this.#bytes += Math.min(bytes.length, this.#maxBytes);
    if (this.#bytes >= 2 * this.#maxBytes) this.#cut();
  }

  /** Returns the tail as text that is safe for a terminal: without control characters except line ends and tabs. */
  text(): string {
    this.#cut();
    const text = new TextDecoder().decode(this.#pieces[0] ?? new Uint8Array());
    return text.replaceAll(/[^\P{Cc}\n\t]/gu, "").trim();
  }

  #cut(): void {
    const last = Uint8Array.from(Buffer.concat(this.#pieces).subarray(-this.#maxBytes));
    this.#pieces = [last];
    this.#bytes = last.length;
  }
}
