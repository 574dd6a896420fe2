/** The last bytes of a stream of any length. */
export class OutputTail {
  readonly #mostBytes: number;
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** In memory now; less than thrice what it keeps. */
  get heldBytes(): number {
    return this.#pieces.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
  }

  push(bytes: Uint8Array): void {
    // Copied: the piece is a view of a buffer that is far larger.
    this.#pieces.push(Uint8Array.from(bytes.subarray(-this.#mostBytes)));
    this.#bytes += Math.min(bytes.length, this.#mostBytes);
    if (this.#bytes >= 2 * this.#mostBytes) this.#cut();
  }

  /** As text on which a terminal cannot choke: control characters are gone, but for line ends and tabs. */
  text(): string {
    this.#cut();
    const text = new TextDecoder().decode(this.#pieces[0] ?? new Uint8Array());
    return text.replaceAll(/[^\P{Cc}\n\t]/gu, "").trim();
  }

  #cut(): void {
    const last = Uint8Array.from(Buffer.concat(this.#pieces).subarray(-this.#mostBytes));
    this.#pieces = [last];
    this.#bytes = last.length;
  }
}
