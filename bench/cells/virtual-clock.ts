import { IndexedHeap, type HeapItem } from "../../coordinator/scheduler/indexed-heap.ts";
import { sleepOn, type Clock, type Timer } from "../../shared/clock.ts";

interface Due extends HeapItem {
  readonly atMs: number;
  readonly order: number;
  readonly task: () => void;
}

/** Start of virtual time: 2026-01-01T00:00:00Z. */
const START_MS = 1_767_225_600_000;

function isFirst(a: Due, b: Due): boolean {
  return a.order < b.order;
}

/** Clock that jumps from event to event. */
export class VirtualClock implements Clock {
  readonly #due = new IndexedHeap<Due>(isFirst);
  #nowMs = 0;
  #order = 0;
  #promisesWait = false;

  now(): number {
    return START_MS + this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  schedule(delayMs: number, task: () => void): Timer {
    this.#promisesWait = true;
    return this.after(delayMs, () => {
      this.#promisesWait = true;
      task();
    });
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  /** Like {@link schedule}, but much cheaper. Use it only for tasks that neither create nor settle promises. */
  after(delayMs: number, task: () => void): Timer {
    this.#order += 1;
    const due: Due = { heapIndex: -1, atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order, task };
    this.#due.push(due, due.atMs);
    return {
      cancel: () => {
        if (due.heapIndex !== -1) this.#due.remove(due);
      },
    };
  }

  /**
   * Runs events one after the other until `isOver` returns true. After each event, waits for its promises.
   * @throws if no event is left.
   */
  async runUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const next = this.#due.peek();
      if (next === undefined) throw new Error("No event is left, but the run is not over");
      this.#due.remove(next);
      this.#nowMs = next.atMs;
      next.task();
      if (!this.#promisesWait) continue;
      this.#promisesWait = false;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
