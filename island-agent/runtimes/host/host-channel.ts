import type { Duplex } from "node:stream";
import { gatherWrites } from "../../../shared/async/gather-writes.ts";
import { GatheredBytes } from "../../../shared/async/gathered-bytes.ts";

/** File descriptor of the pipe in a host process. */
export const CHANNEL_FD = 3;
const NEWLINE = 0x0a;
/** Maximum message length. The largest outputs are tensors of 2,000,000 elements, about 44 MB. */
const MAX_MESSAGE_BYTES = 67_108_864;

interface HostChannelEvents {
  readonly onMessage: (message: unknown) => void;
  /** Called when the other end sent an invalid message; nothing more is read. */
  readonly onBroken: (why: string) => void;
}

/**
 * Exchanges messages between the agent and a host process, one line of JSON each. Node's IPC channel does not limit the
 * length of a message, and throws on invalid JSON where the agent cannot catch it.
 */
export class HostChannel {
  readonly #pipe: Duplex;
  readonly #events: HostChannelEvents;
  /** Beginning of the next message. */
  #line = new GatheredBytes();

  constructor(pipe: Duplex, events: HostChannelEvents) {
    this.#pipe = pipe;
    this.#events = events;
    // A write after the other end has closed fails; the end of the process or of the pipe reports that.
    pipe.on("error", () => {});
    pipe.on("data", (chunk: Buffer) => this.#read(chunk));
  }

  /** Sends a message. Returns false, and sends nothing, when it is too long. No-op when the other end is closed. */
  send(message: unknown): boolean {
    const line = `${JSON.stringify(message)}\n`;
    if (Buffer.byteLength(line) > MAX_MESSAGE_BYTES) return false;
    if (!this.#pipe.writable) return true;
    gatherWrites(this.#pipe, "callback");
    this.#pipe.write(line);
    return true;
  }

  #read(chunk: Buffer): void {
    let from = 0;
    while (!this.#pipe.destroyed) {
      const end = chunk.indexOf(NEWLINE, from);
      const piece = chunk.subarray(from, end === -1 ? undefined : end);
      if (this.#line.length + piece.length >= MAX_MESSAGE_BYTES)
        return this.#break(`a message exceeded ${MAX_MESSAGE_BYTES} bytes`);
      this.#line.add(piece);
      if (end === -1) return;
      this.#endLine();
      from = end + 1;
    }
  }

  #endLine(): void {
    const line = this.#line.bytes;
    this.#line = new GatheredBytes();
    let message: unknown;
    try {
      message = JSON.parse(line.toString("utf8"));
    } catch {
      return this.#break("a message was not JSON");
    }
    this.#events.onMessage(message);
  }

  #break(why: string): void {
    this.#line = new GatheredBytes();
    this.#pipe.destroy();
    this.#events.onBroken(why);
  }
}
