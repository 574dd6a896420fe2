const EMPTY = Buffer.alloc(0);

/**
 * Collects bytes that arrive in chunks in one growing buffer. The first chunk is kept without a copy, because it is
 * usually the only one. Later chunks are copied, because keeping chunks of one byte would take 150 bytes of memory per
 * byte.
 */
export class GatheredBytes {
  #buffer: Buffer = EMPTY;
  #length = 0;

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

  /** Returns all bytes so far, which are valid until the next `add`. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}
