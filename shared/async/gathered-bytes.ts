const EMPTY = Buffer.alloc(0);

/**
 * Bytes that arrive in chunks, in one buffer that grows. No chunk is kept but the first, which is mostly the only one: who sends each
 * byte in a chunk of its own would take 150 bytes of memory with it.
 */
export class GatheredBytes {
  #buffer: Buffer = EMPTY;
  #length = 0;

  /** Number of bytes so far. */
  get length(): number {
    return this.#length;
  }

  add(chunk: Buffer): void {
    const needed = this.#length + chunk.length;
    if (this.#length === 0) this.#buffer = chunk;
    else {
      if (needed > this.#buffer.length) this.#buffer = Buffer.concat([this.#buffer], 2 * needed);
      chunk.copy(this.#buffer, this.#length);
    }
    this.#length = needed;
  }

  /** All bytes so far; valid until the next `add`. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}
