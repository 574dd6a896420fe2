type OutputName = "stdout" | "stderr";

const HEADER_BYTES = 8;

/**
 * Splits an attached stream into standard output and standard error. A frame is {type, 0, 0, 0, length as 4 bytes, big
 * endian} and that many bytes. Only headers are buffered, so a frame of any length takes no memory. Source: Docker's
 * API, ContainerAttach, "Stream format".
 */
export class StreamDemux {
  readonly #onBytes: (name: OutputName, bytes: Uint8Array) => void;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  #name: OutputName = "stdout";
  #leftBytes = 0;

  constructor(onBytes: (name: OutputName, bytes: Uint8Array) => void) {
    this.#onBytes = onBytes;
  }

  /** @throws {Error} for a stream with other frames. */
  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#leftBytes > 0) {
        const piece = chunk.subarray(at, at + this.#leftBytes);
        this.#leftBytes -= piece.length;
        at += piece.length;
        this.#onBytes(this.#name, piece);
      } else {
        const piece = chunk.subarray(at, at + HEADER_BYTES - this.#headerBytes);
        this.#header.set(piece, this.#headerBytes);
        this.#headerBytes += piece.length;
        at += piece.length;
        if (this.#headerBytes === HEADER_BYTES) this.#openFrame();
      }
    }
  }

  #openFrame(): void {
    const type = this.#header[0];
    if (type !== 1 && type !== 2) throw new Error("The engine's stream is not framed");
    this.#name = type === 1 ? "stdout" : "stderr";
    this.#leftBytes = this.#header.readUInt32BE(4);
    this.#headerBytes = 0;
  }
}
