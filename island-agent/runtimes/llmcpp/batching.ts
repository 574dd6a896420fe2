import type { CustomBatchingPrioritizationStrategy, LlamaContext } from "node-llama-cpp";
import { fillBatch } from "./batch-order.ts";

/** Turns of the microtask queue that a batch is held for sequences that have not queued their next token yet. */
const MOST_HOLDS = 256;

/**
 * How node-llama-cpp is made to batch all running sequences together. As shipped (3.22.1) it dispatches before the slowest
 * sequence has queued its token, and in order of completion, while llama.cpp merges ascending sequence ids only: 4 streams ran at
 * 550 tokens a second, so at 850 (25.7 M parameters in f16, 1 thread, 2 cores, 2026-11). So a batch is held until every active
 * run has queued, which an empty answer does for one microtask turn, and is sorted by sequence id.
 */
export class BatchHolder {
  /** Runs that are generating in this context. */
  activeRuns = 0;
  #holds = 0;
  #context: LlamaContext | undefined;

  /** Names the context whose queue is to be ordered, once it exists. */
  attach(context: LlamaContext): void {
    this.#context = context;
  }

  readonly strategy: CustomBatchingPrioritizationStrategy = ({ items, size }) => {
    if (items.length < this.activeRuns && this.#holds++ < MOST_HOLDS) return [];
    this.#holds = 0;
    const ids = this.#sequenceIds();
    const waiting = items.map(({ tokens }, index) => ({ sequenceId: ids?.[index] ?? index, count: tokens.length }));
    return fillBatch(waiting, size).flatMap(({ index, count }) => {
      const item = items[index];
      return item === undefined ? [] : [{ item, processAmount: count }];
    });
  };

  /** Ids of the queued items. They are only in a private field, in the order of `items`; without it there is no sorting. */
  #sequenceIds(): readonly number[] | undefined {
    const queue = (this.#context as unknown as { _queuedDecodes?: readonly { sequenceId: number }[] })?._queuedDecodes;
    return queue?.map(({ sequenceId }) => sequenceId);
  }
}
