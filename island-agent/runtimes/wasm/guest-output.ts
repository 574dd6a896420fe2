import type { FromGuest } from "./guest-messages.ts";

/** Maximum buffered size of an unfinished line. The host cannot use a line before its end. */
const MAX_BUFFERED_BYTES = 65_536;
/** Maximum unread messages before the guest waits, so that a flood neither fills memory nor blocks the host. */
const MAX_IN_FLIGHT = 64;
const LINE_FEED = 0x0a;

/** Sends a guest's output to the host, line by line. */
export class GuestOutput {
  readonly #send: (message: FromGuest, transfer: ArrayBuffer[]) => void;
  readonly #inFlight: Int32Array<SharedArrayBuffer>;
  readonly #buffered: Record<1 | 2, Uint8Array<ArrayBuffer>[]> = { 1: [], 2: [] };
  readonly #bufferedBytes: Record<1 | 2, number> = { 1: 0, 2: 0 };

  constructor(send: (message: FromGuest, transfer: ArrayBuffer[]) => void, inFlight: Int32Array<SharedArrayBuffer>) {
    this.#send = send;
    this.#inFlight = inFlight;
  }

  /** Adds output and takes ownership of `bytes`. */
  write(fd: 1 | 2, bytes: Uint8Array<ArrayBuffer>): void {
    this.#buffered[fd].push(bytes);
    this.#bufferedBytes[fd] += bytes.length;
    if (this.#bufferedBytes[fd] >= MAX_BUFFERED_BYTES || bytes.includes(LINE_FEED)) this.flush(fd);
  }

  flush(fd: 1 | 2): void {
    if (this.#bufferedBytes[fd] === 0) return;
    const bytes = new Uint8Array(this.#bufferedBytes[fd]);
    let at = 0;
    for (const piece of this.#buffered[fd]) {
      bytes.set(piece, at);
      at += piece.length;
    }
    this.#buffered[fd] = [];
    this.#bufferedBytes[fd] = 0;
    this.#waitForHost();
    this.#send({ kind: "wrote", fd, bytes }, [bytes.buffer]);
  }

  #waitForHost(): void {
    for (;;) {
      const count = Atomics.load(this.#inFlight, 0);
      if (count < MAX_IN_FLIGHT) break;
      Atomics.wait(this.#inFlight, 0, count);
    }
    Atomics.add(this.#inFlight, 0, 1);
  }
}

export function confirmRead(inFlight: Int32Array<SharedArrayBuffer>): void {
  Atomics.sub(inFlight, 0, 1);
  Atomics.notify(inFlight, 0);
}
