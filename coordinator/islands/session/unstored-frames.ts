import type { IntakeBudget } from "../intake-budget.ts";

export interface UnstoredFramesListener {
  /** Too much waits for storage: the socket is not read. */
  onWait(): void;
  onRoom(): void;
}

/** The frames of one session that wait for their commit. An Island is read no faster than storage takes what all Islands send. */
export class UnstoredFrames {
  readonly #intake: IntakeBudget;
  readonly #listener: UnstoredFramesListener;
  #bytes = 0;
  /** Bytes of each write that is under way. */
  readonly #writes = new WeakMap<Promise<unknown>, { bytes: number }>();
  /** Ends the wait for room; null while there is none. */
  #stopWaiting: (() => void) | null = null;

  constructor(intake: IntakeBudget, listener: UnstoredFramesListener) {
    this.#intake = intake;
    this.#listener = listener;
  }

  get isWaiting(): boolean {
    return this.#stopWaiting !== null;
  }

  /** @param durable resolves when the frame is stored; the same promise for all frames of one write. */
  add(bytes: number, durable: Promise<unknown>): void {
    const intake = this.#intake;
    this.#bytes += bytes;
    intake.add(bytes);
    if (!intake.hasRoom({ bytes: this.#bytes, lastFrameBytes: bytes })) this.#wait(bytes);
    const write = this.#writes.get(durable);
    if (write !== undefined) {
      write.bytes += bytes;
      return;
    }
    const first = { bytes };
    this.#writes.set(durable, first);
    void durable.then(() => {
      this.#bytes -= first.bytes;
      intake.remove(first.bytes);
    });
  }

  /** Waits no more, and tells nobody. */
  close(): void {
    this.#stopWaiting?.();
    this.#stopWaiting = null;
  }

  #wait(lastFrameBytes: number): void {
    if (this.isWaiting) return;
    const intake = this.#intake;
    this.#listener.onWait();
    this.#stopWaiting = intake.onRoom(() => {
      const isHalfEmpty = this.#bytes <= intake.limits.islandIntakeBytes / 2;
      if (!isHalfEmpty || !intake.hasRoom({ bytes: this.#bytes, lastFrameBytes })) return;
      this.close();
      this.#listener.onRoom();
    });
  }
}
