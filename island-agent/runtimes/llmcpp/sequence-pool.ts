/** A sequence of the context that keeps the tokens of its last run. */
interface CachedSequence<Tokens> {
  /** Number of tokens in the cache. */
  readonly nextTokenIndex: number;
  compareContextTokens(tokens: Tokens): { firstDifferentIndex: number };
  clearHistory(): Promise<void>;
}

interface Waiter<Tokens, Sequence> {
  readonly tokens: Tokens;
  readonly take: (sequence: Sequence) => void;
}

/**
 * Assigns sequences in order of arrival, and reuses prefix caches. It picks the free sequence with the lowest cost:
 * prompt tokens to evaluate plus cached tokens to discard. A follow-up turn thus finds its conversation, and another
 * prompt does not overwrite it. Ties go to the lowest id, which keeps ids consecutive. A cache hit is visible in the
 * timing, so cached tokens serve only runs with the cache key of the run that left them (each account has its own). A
 * run with another key, or without one, gets an empty sequence.
 */
export class SequencePool<Tokens extends { readonly length: number }, Sequence extends CachedSequence<Tokens>> {
  readonly #all: readonly Sequence[];
  readonly #free: Set<Sequence>;
  /** Cache keys of the most recent runs, by sequence. */
  readonly #keys = new Map<Sequence, string>();
  readonly #waiters = new Set<Waiter<Tokens, Sequence>>();

  constructor(sequences: readonly Sequence[]) {
    this.#all = sequences;
    this.#free = new Set(sequences);
  }

  /** Resolves to a sequence that belongs to the caller until `release`. Rejects with `signal.reason` during the wait. */
  async acquire(tokens: Tokens, cacheKey: string | undefined, signal: AbortSignal): Promise<Sequence> {
    const sequence = await this.#take(tokens, cacheKey, signal);
    if (sequence.nextTokenIndex > 0 && !this.#isOf(sequence, cacheKey)) {
      await sequence.clearHistory().catch((error: unknown) => {
        this.release(sequence);
        throw error;
      });
    }
    if (cacheKey === undefined) this.#keys.delete(sequence);
    else this.#keys.set(sequence, cacheKey);
    return sequence;
  }

  #take(tokens: Tokens, cacheKey: string | undefined, signal: AbortSignal): Promise<Sequence> | Sequence {
    signal.throwIfAborted();
    const best = this.#bestFor(tokens, cacheKey);
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

  #isOf(sequence: Sequence, cacheKey: string | undefined): boolean {
    return cacheKey !== undefined && this.#keys.get(sequence) === cacheKey;
  }

  #bestFor(tokens: Tokens, cacheKey: string | undefined): Sequence | undefined {
    let best: Sequence | undefined;
    let lowest = Infinity;
    for (const sequence of this.#all) {
      if (!this.#free.has(sequence)) continue;
      const shared = this.#isOf(sequence, cacheKey) ? sequence.compareContextTokens(tokens).firstDifferentIndex : 0;
      // Returns the number of prompt tokens to evaluate plus that of cached tokens to discard.
      const cost = tokens.length - shared + (sequence.nextTokenIndex - shared);
      if (cost >= lowest) continue;
      best = sequence;
      lowest = cost;
    }
    return best;
  }
}
