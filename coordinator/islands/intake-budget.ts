import { KIB } from "../../shared/format-bytes.ts";

/** Sessions whose last frame was smaller are read on while the budget is used up: chats must not wait for images. */
const MAX_SMALL_FRAME_BYTES = 64 * KIB;

export interface IntakeLimits {
  /** Of all sessions together. */
  readonly intakeMemoryBytes: number;
  /** Of one session. */
  readonly islandIntakeBytes: number;
}

/** What Islands sent and storage has not taken yet, in bytes; shared by all sessions. */
export class IntakeBudget {
  readonly limits: IntakeLimits;
  readonly #waiting = new Set<() => void>();
  #bytes = 0;

  constructor(limits: IntakeLimits) {
    this.limits = limits;
  }

  /** False when the session must wait: for its own frames, or because there is too much in all. */
  hasRoom(own: { readonly bytes: number; readonly lastFrameBytes: number }): boolean {
    if (own.bytes > this.limits.islandIntakeBytes) return false;
    return this.#bytes <= this.limits.intakeMemoryBytes || own.lastFrameBytes <= MAX_SMALL_FRAME_BYTES;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }

  /** The bytes are stored. Calls those that wait as soon as half of the budget is free. */
  remove(bytes: number): void {
    this.#bytes -= bytes;
    if (this.#bytes > this.limits.intakeMemoryBytes / 2) return;
    for (const wake of this.#waiting) wake();
  }

  /** Calls `wake` whenever half of the budget is free, until the returned function is called. */
  onRoom(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }
}
