import type { Duplex } from "node:stream";

/** Where a host process finds its end of the pipe. */
export const CHANNEL_FD = 3;
const NEWLINE = 0x0a;
/** Longest message, in bytes. The longest answers are tensors of 2,000,000 elements, some 44 MB. */
export const MAX_MESSAGE_BYTES = 67_108_864;

export interface HostChannelEvents {
  readonly onMessage: (message: unknown) => void;
  /** What came is no message, and nothing more is read. */
  readonly onBroken: (why: string) => void;
}

/**
 * Messages between the agent and a host process: JSON, one a line. Node's own IPC channel would keep a message that never ends, and
 * throws out of reach of the agent at one that is not JSON.
 */
export class HostChannel {
  readonly #pipe: Duplex;
  readonly #events: HostChannelEvents;
  /** Of the message that is not complete. */
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(pipe: Duplex, events: HostChannelEvents) {
    this.#pipe = pipe;
    this.#events = events;
    // A write to an end that has just gone fails; that it has gone is told by the end of the process or of the pipe.
    pipe.on("error", () => {});
    pipe.on("data", (chunk: Buffer) => this.#read(chunk));
  }

  /** False, and nothing is sent, when the message is too long. Does nothing when the other end is gone. */
  send(message: unknown): boolean {
    const line = `${JSON.stringify(message)}\n`;
    if (Buffer.byteLength(line) > MAX_MESSAGE_BYTES) return false;
    if (this.#pipe.writable) this.#pipe.write(line);
    return true;
  }

  #read(chunk: Buffer): void {
    let from = 0;
    while (!this.#pipe.destroyed) {
      const end = chunk.indexOf(NEWLINE, from);
      const piece = chunk.subarray(from, end === -1 ? undefined : end);
      this.#bytes += piece.length;
      if (this.#bytes >= MAX_MESSAGE_BYTES) return this.#break(`a message was over ${MAX_MESSAGE_BYTES} bytes`);
      this.#pieces.push(piece);
      if (end === -1) return;
      this.#endLine();
      from = end + 1;
    }
  }

  #endLine(): void {
    const [first = Buffer.alloc(0)] = this.#pieces;
    const line = this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#bytes = 0;
    let message: unknown;
    try {
      message = JSON.parse(line.toString("utf8"));
    } catch {
      return this.#break("a message was not JSON");
    }
    this.#events.onMessage(message);
  }

  #break(why: string): void {
    this.#pieces = [];
    this.#pipe.destroy();
    this.#events.onBroken(why);
  }
}
