import { KIB } from "../../shared/format-bytes.ts";
import type { MemoryBudgets } from "../config/memory-settings.ts";

/**
 * After a frame of at most this size, a session is read even above the budget, so that chats do not wait for images.
 */
const MAX_SMALL_FRAME_BYTES = 64 * KIB;

/** Limits the bytes that Islands sent and storage has not committed yet, for all sessions together. */
export type IntakeBudget = ReturnType<typeof intakeBudget>;

/** @param limits Maximum bytes of all sessions together and of one session. */
export function intakeBudget(limits: Pick<MemoryBudgets, "intakeMemoryBytes" | "islandIntakeBytes">) {
  const waiting = new Set<() => void>();
  let total = 0;
  return {
    limits,

    /** Returns false if the session must wait: the frames of this session or of all sessions exceed a limit. */
    hasCapacity(ownBytes: number, lastFrameBytes: number): boolean {
      if (ownBytes > limits.islandIntakeBytes) return false;
      return total <= limits.intakeMemoryBytes || lastFrameBytes <= MAX_SMALL_FRAME_BYTES;
    },

    add(bytes: number): void {
      total += bytes;
    },

    /** Releases stored bytes. Wakes waiting sessions once half of the budget is free. */
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

/** Frames of a session that wait for their commit. Islands are read only as fast as storage commits their frames. */
export class UnstoredFrames {
  readonly #intake: IntakeBudget;
  readonly #onWait: () => void;
  readonly #onCapacity: () => void;
  #bytes = 0;
  /** Bytes of frames in each write in flight. */
  readonly #writes = new WeakMap<Promise<unknown>, { bytes: number }>();
  /** Ends the wait for capacity; null while the session does not wait. */
  #stopWaiting: (() => void) | null = null;

  /** @param onWait Called when too many bytes wait for storage; the socket must not be read until `onCapacity`. */
  constructor(intake: IntakeBudget, onWait: () => void, onCapacity: () => void) {
    this.#intake = intake;
    this.#onWait = onWait;
    this.#onCapacity = onCapacity;
  }

  get isWaiting(): boolean {
    return this.#stopWaiting !== null;
  }

  /**
   * Counts a frame until it is stored.
   * @param durable Resolves when the frame is stored; the same promise for all frames of one write.
   */
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
