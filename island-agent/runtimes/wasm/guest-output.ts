import type { FromGuest } from "./guest-messages.ts";

/** Bytes of an unfinished line that are held back: the host can do nothing with them before the line's end. */
const MOST_HELD_BYTES = 65_536;
/** Messages that may be on their way before the guest waits, so that a flood fills no memory and the host stays awake. */
const MAX_IN_FLIGHT = 64;
const LINE_FEED = 0x0a;

/** What a guest writes, sent line by line as it is written. */
export class GuestOutput {
  readonly #send: (message: FromGuest, transfer: ArrayBuffer[]) => void;
  readonly #inFlight: Int32Array<SharedArrayBuffer>;
  readonly #held: Record<1 | 2, Uint8Array<ArrayBuffer>[]> = { 1: [], 2: [] };
  readonly #heldBytes: Record<1 | 2, number> = { 1: 0, 2: 0 };

  constructor(send: (message: FromGuest, transfer: ArrayBuffer[]) => void, inFlight: Int32Array<SharedArrayBuffer>) {
    this.#send = send;
    this.#inFlight = inFlight;
  }

  /** Takes the bytes, which are not the caller's any more. */
  write(fd: 1 | 2, bytes: Uint8Array<ArrayBuffer>): void {
    this.#held[fd].push(bytes);
    this.#heldBytes[fd] += bytes.length;
    if (this.#heldBytes[fd] >= MOST_HELD_BYTES || bytes.includes(LINE_FEED)) this.flush(fd);
  }

  /** Sends what is held back. */
  flush(fd: 1 | 2): void {
    if (this.#heldBytes[fd] === 0) return;
    const bytes = new Uint8Array(this.#heldBytes[fd]);
    let at = 0;
    for (const piece of this.#held[fd]) {
      bytes.set(piece, at);
      at += piece.length;
    }
    this.#held[fd] = [];
    this.#heldBytes[fd] = 0;
    this.#waitForRoom();
    this.#send({ kind: "wrote", fd, bytes }, [bytes.buffer]);
  }

  #waitForRoom(): void {
    for (;;) {
      const count = Atomics.load(this.#inFlight, 0);
      if (count < MAX_IN_FLIGHT) break;
      Atomics.wait(this.#inFlight, 0, count);
    }
    Atomics.add(this.#inFlight, 0, 1);
  }
}

/** The host's side: one message was taken. */
export function noteTaken(inFlight: Int32Array<SharedArrayBuffer>): void {
  Atomics.sub(inFlight, 0, 1);
  Atomics.notify(inFlight, 0);
}
