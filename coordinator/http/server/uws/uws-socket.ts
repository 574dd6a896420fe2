import { CLOSE, MAX_FRAME_BYTES } from "../../../../shared/protocol/codec.ts";
import type { SessionSocket, SocketEvents } from "../../../islands/session-socket.ts";
import type { UwsWebSocket } from "./load-uws.ts";
import type { TickFlush } from "./tick-flush.ts";

const FRAME_OVERHEAD_BYTES = 256;
/** Maximum bytes of held-back frames. An Island that exceeds it is disconnected and resends what was not stored. */
const MAX_HELD_BYTES = 2 * MAX_FRAME_BYTES;
/**
 * Maximum frame that the library accepts. It cuts the connection without a close code at a larger one; the margin above
 * MAX_FRAME_BYTES allows a close with 1009.
 */
export const MAX_PAYLOAD_BYTES = MAX_FRAME_BYTES + 65_536;
/** Close codes of RFC 6455 §7.4.1 and its registry. */
const ABNORMAL = 1006;
const TRY_AGAIN_LATER = 1013;

/**
 * WebSocket of an Island. The library cannot pause reading, so a paused socket holds frames back, up to a limit, and
 * delivers the close last.
 */
export class UwsSocket implements SessionSocket {
  readonly closed: Promise<void>;
  readonly #ticks: TickFlush;
  #resolveClosed: () => void = () => undefined;
  /** The library's socket; null before it opens and once it is closed. */
  #ws: UwsWebSocket | null = null;
  #events: SocketEvents | null = null;
  #unsent: Uint8Array[] = [];
  #unsentBytes = 0;
  #isPaused = false;
  #held: { readonly data: Buffer; readonly isBinary: boolean }[] = [];
  #heldBytes = 0;
  #isDelivering = false;
  #closeCode: number | null = null;
  #isClosing = false;

  constructor(ticks: TickFlush) {
    this.#ticks = ticks;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  get isOpen(): boolean {
    return this.#ws !== null && !this.#isClosing;
  }

  get bufferedBytes(): number {
    return this.#unsentBytes + (this.#ws?.getBufferedAmount() ?? 0);
  }

  attach(events: SocketEvents): void {
    this.#events = events;
  }

  send(frame: Uint8Array): void {
    if (this.#ws === null || this.#isClosing) return;
    this.#unsentBytes += frame.byteLength;
    if (this.#unsent.push(frame) === 1) this.#ticks.add(this);
  }

  flush(): void {
    const frames = this.#unsent;
    this.#unsent = [];
    this.#unsentBytes = 0;
    const ws = this.#ws;
    if (ws === null || frames.length === 0) return;
    ws.cork(() => {
      for (const frame of frames) ws.send(frame, true);
    });
  }

  ping(): void {
    this.#ws?.ping();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    // Delivery is deferred: the caller is often in the middle of a frame.
    setImmediate(() => this.#deliver());
  }

  close(code: number, reason: string): void {
    if (this.#ws === null || this.#isClosing) return;
    this.flush();
    this.#isClosing = true;
    // The close is deferred: the library reports it synchronously, which callers do not expect.
    setImmediate(() => this.#ws?.end(code, reason));
  }

  terminate(): void {
    this.#isClosing = true;
    setImmediate(() => this.#ws?.close());
  }

  destroy(): void {
    this.terminate();
  }

  /** Called by the library when the socket is open. The library also calls the methods below. */
  opened(ws: UwsWebSocket): void {
    this.#ws = ws;
  }

  received(message: ArrayBuffer, isBinary: boolean): void {
    if (this.#isClosing) return;
    if (message.byteLength > MAX_FRAME_BYTES) return this.close(CLOSE.tooBig, "frame too large");
    // The message is copied: the library reuses its memory.
    const data = Buffer.from(new Uint8Array(message));
    if (!this.#isPaused && this.#held.length === 0) {
      this.#events?.onMessage(data, isBinary);
      return;
    }
    this.#held.push({ data, isBinary });
    this.#heldBytes += data.length + FRAME_OVERHEAD_BYTES;
    if (this.#heldBytes > MAX_HELD_BYTES) this.#giveUp();
  }

  pinged(): void {
    this.#events?.onPing();
  }

  ponged(): void {
    this.#events?.onPong();
  }

  libraryClosed(code: number): void {
    this.#ws = null;
    this.#closeCode = code === 0 ? ABNORMAL : code;
    this.#deliver();
  }

  /** Drops the held-back frames, which were not acknowledged, and closes the socket. */
  #giveUp(): void {
    this.#held = [];
    this.#heldBytes = 0;
    this.#isPaused = false;
    this.close(TRY_AGAIN_LATER, "too much unread data at the coordinator");
  }

  #deliver(): void {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    const frames = this.#held;
    let delivered = 0;
    for (const { data, isBinary } of frames) {
      if (this.#isPaused) break;
      delivered += 1;
      this.#heldBytes -= data.length + FRAME_OVERHEAD_BYTES;
      this.#events?.onMessage(data, isBinary);
    }
    this.#held = frames.slice(delivered);
    this.#isDelivering = false;
    if (this.#closeCode === null || this.#held.length > 0) return;
    this.#events?.onClose(this.#closeCode);
    this.#closeCode = null;
    this.#resolveClosed();
  }
}
