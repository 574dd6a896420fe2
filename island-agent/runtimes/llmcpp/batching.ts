import type { CustomBatchingPrioritizationStrategy, LlamaContext } from "node-llama-cpp";
import { fillBatch } from "./batch-order.ts";

/** Microtask turns for which a batch waits for sequences that have not queued their next token. */
const MAX_DELAYS = 256;

/**
 * Makes node-llama-cpp batch all running sequences together. As shipped (3.22.1) it dispatches a batch before the slowest sequence
 * has queued its token, and in order of completion, while llama.cpp merges only ascending sequence ids. This strategy delays a batch
 * until every active run has queued (an empty answer postpones it by one microtask turn) and sorts it by sequence id.
 * 4 streams: 550 tokens/s without it, 850 with it (25.7 M parameters in f16, 1 thread, 2 cores, 2026-11).
 */
export class SequenceBatching {
  /** Runs that generate in this context now. */
  activeRuns = 0;
  /** Told how many tokens of a sequence go into each batch, by sequence id. Empty but for runs that read their prompt. */
  readonly onTokens = new Map<number, (tokens: number) => void>();
  readonly #watchers = new Set<() => void>();
  #delays = 0;
  #context: LlamaContext | undefined;

  /** Sets the context whose queue is sorted; it does not exist yet when the strategy is passed in. */
  attach(context: LlamaContext): void {
    this.#context = context;
  }

  /** Calls `onBatch` with every batch of the context, whatever sequences it has, until `work` is done. It shows that runs go on. */
  async tellOfBatches<T>(onBatch: () => void, work: () => Promise<T>): Promise<T> {
    this.#watchers.add(onBatch);
    try {
      return await work();
    } finally {
      this.#watchers.delete(onBatch);
    }
  }

  readonly strategy: CustomBatchingPrioritizationStrategy = ({ items, size }) => {
    if (items.length < this.activeRuns && this.#delays++ < MAX_DELAYS) return [];
    this.#delays = 0;
    for (const tell of this.#watchers) tell();
    const ids = this.#sequenceIds();
    const waiting = items.map(({ tokens }, index) => ({ sequenceId: ids?.[index] ?? index, count: tokens.length }));
    return fillBatch(waiting, size).flatMap(({ index, count }) => {
      const item = items[index];
      if (this.onTokens.size > 0) this.onTokens.get(ids?.[index] ?? -1)?.(count);
      return item === undefined ? [] : [{ item, processAmount: count }];
    });
  };

  /** Sequence ids of `items`, in the same order. Only a private field has them; without it batches stay unsorted. */
  #sequenceIds(): readonly number[] | undefined {
    const queue = (this.#context as unknown as { _queuedDecodes?: readonly { sequenceId: number }[] })?._queuedDecodes;
    return queue?.map(({ sequenceId }) => sequenceId);
  }
}
