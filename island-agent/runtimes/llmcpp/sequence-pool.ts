/** A sequence of the context that keeps the tokens of its last run. */
export interface CachedSequence<Tokens> {
  /** Number of tokens in its cache. */
  readonly nextTokenIndex: number;
  compareContextTokens(tokens: Tokens): { firstDifferentIndex: number };
}

interface Waiter<Tokens, Sequence> {
  readonly tokens: Tokens;
  readonly take: (sequence: Sequence) => void;
}

/**
 * Hands out sequences, first come, first served, so that prefix caches are reused. It picks the free sequence with the lowest cost:
 * prompt tokens to evaluate plus cached tokens to discard. So a follow-up turn finds its conversation, and another prompt does not
 * overwrite it. Ties go to the lowest id, which keeps ids consecutive. All users of a Cargo share the cache; a hit shows in the
 * timing only.
 */
export class SequencePool<Tokens extends { readonly length: number }, Sequence extends CachedSequence<Tokens>> {
  readonly #all: readonly Sequence[];
  readonly #free: Set<Sequence>;
  readonly #waiters = new Set<Waiter<Tokens, Sequence>>();

  constructor(sequences: readonly Sequence[]) {
    this.#all = sequences;
    this.#free = new Set(sequences);
  }

  /** Resolves with a sequence for the caller's use until `release`; rejects with `signal.reason` when aborted while it waits. */
  async acquire(tokens: Tokens, signal: AbortSignal): Promise<Sequence> {
    signal.throwIfAborted();
    const best = this.#bestFor(tokens);
    if (best !== undefined) {
      this.#free.delete(best);
      return best;
    }
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiters.delete(waiter);
        reject(signal.reason as Error);
      };
      const waiter = {
        tokens,
        take: (sequence: Sequence) => {
          signal.removeEventListener("abort", onAbort);
          resolve(sequence);
        },
      };
      this.#waiters.add(waiter);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  release(sequence: Sequence): void {
    const [next] = this.#waiters;
    if (next === undefined) {
      this.#free.add(sequence);
      return;
    }
    this.#waiters.delete(next);
    next.take(sequence);
  }

  #bestFor(tokens: Tokens): Sequence | undefined {
    let best: Sequence | undefined;
    let lowest = Infinity;
    for (const sequence of this.#all) {
      if (!this.#free.has(sequence)) continue;
      const cost = workLost(sequence, tokens);
      if (cost >= lowest) continue;
      best = sequence;
      lowest = cost;
    }
    return best;
  }
}

function workLost<Tokens extends { readonly length: number }>(
  sequence: CachedSequence<Tokens>,
  tokens: Tokens,
): number {
  const shared = sequence.compareContextTokens(tokens).firstDifferentIndex;
  return tokens.length - shared + (sequence.nextTokenIndex - shared);
}
