import { KIB } from "../../shared/format-bytes.ts";
import type { MemoryBudgets } from "../config/memory-settings.ts";

/** Sessions whose last frame was smaller are read on while the budget is used up: chats must not wait for images. */
const MAX_SMALL_FRAME_BYTES = 64 * KIB;

/** What Islands sent and storage has not taken yet, in bytes; shared by all sessions. */
export type IntakeBudget = ReturnType<typeof intakeBudget>;

/**
 * @param limits Bytes: `intakeMemoryBytes` of all sessions together, `islandIntakeBytes` of one session.
 */
export function intakeBudget(limits: Pick<MemoryBudgets, "intakeMemoryBytes" | "islandIntakeBytes">) {
  const waiting = new Set<() => void>();
  let total = 0;
  return {
    limits,

    /** False when the session must wait: for its own frames, or because there is too much in all. */
    hasCapacity(ownBytes: number, lastFrameBytes: number): boolean {
      if (ownBytes > limits.islandIntakeBytes) return false;
      return total <= limits.intakeMemoryBytes || lastFrameBytes <= MAX_SMALL_FRAME_BYTES;
    },

    add(bytes: number): void {
      total += bytes;
    },

    /** The bytes are stored. Calls those that wait as soon as half of the budget is free. */
    remove(bytes: number): void {
      total -= bytes;
      if (total > limits.intakeMemoryBytes / 2) return;
      for (const wake of waiting) wake();
    },

    /** Calls `wake` whenever half of the budget is free, until the returned function is called. */
    onCapacity(wake: () => void): () => void {
      waiting.add(wake);
      return () => waiting.delete(wake);
    },
  };
}

/** The frames of one session that wait for their commit. An Island is read no faster than storage takes what all Islands send. */
export class UnstoredFrames {
  readonly #intake: IntakeBudget;
  readonly #onWait: () => void;
  readonly #onCapacity: () => void;
  #bytes = 0;
  /** Bytes of each write that is under way. */
  readonly #writes = new WeakMap<Promise<unknown>, { bytes: number }>();
  /** Ends the wait for room; null while there is none. */
  #stopWaiting: (() => void) | null = null;

  /** @param onWait Too much waits for storage: the socket is not read until `onCapacity`. */
  constructor(intake: IntakeBudget, onWait: () => void, onCapacity: () => void) {
    this.#intake = intake;
    this.#onWait = onWait;
    this.#onCapacity = onCapacity;
  }

  get isWaiting(): boolean {
    return this.#stopWaiting !== null;
  }

  /** @param durable resolves when the frame is stored; the same promise for all frames of one write. */
  add(bytes: number, durable: Promise<unknown>): void {
    const intake = this.#intake;
    this.#bytes += bytes;
    intake.add(bytes);
    if (!intake.hasCapacity(this.#bytes, bytes)) this.#wait(bytes);
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

  /** Ends the wait without calling `onCapacity`. */
  close(): void {
    this.#stopWaiting?.();
    this.#stopWaiting = null;
  }

  #wait(lastFrameBytes: number): void {
    if (this.isWaiting) return;
    const intake = this.#intake;
    this.#onWait();
    this.#stopWaiting = intake.onCapacity(() => {
      const isHalfEmpty = this.#bytes <= intake.limits.islandIntakeBytes / 2;
      if (!isHalfEmpty || !intake.hasCapacity(this.#bytes, lastFrameBytes)) return;
      this.close();
      this.#onCapacity();
    });
  }
}
