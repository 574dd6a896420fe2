import type { Clock } from "../../shared/clock.ts";

/** Length of the window over which requests are counted. */
export const WINDOW_MS = 60_000;
/** Maximum number of callers in a generation, see {@link RequestWindow}; only a flood reaches it. */
const MAX_CALLERS = 50_000;
/** Initial capacity of a ring: most callers make few requests. */
const FIRST_CAPACITY = 8;

/** A caller's count after a request. */
export interface RequestCount {
  /** Whether the request is within the limit. A request beyond it is not counted. */
  readonly isAllowed: boolean;
  /** Number of requests still allowed now. */
  readonly remaining: number;
  /** Time in ms until the oldest counted request leaves the window, so that one more is allowed. */
  readonly freesInMs: number;
}

/**
 * Counts requests by caller in an exact sliding window: no minute, wherever it starts, has more than the limit. A
 * refused request does not count, so a client that waits for Retry-After is accepted.
 *
 * Callers are in two generations. A request moves its caller to the younger generation. Each minute the older
 * generation is dropped, with the callers whose requests have all left the window. A flood of callers ends a generation
 * early, which bounds memory and may drop the least recent callers too soon. (One Map in order of the last request is
 * slow: V8 walks past all deleted entries to find the first.)
 */
export class RequestWindow {
  readonly #clock: Clock;
  readonly #maxCallers: number;
  #younger = new Map<string, TimeRing>();
  #older = new Map<string, TimeRing>();
  #bornMs: number;

  constructor(clock: Clock, maxCallers: number = MAX_CALLERS) {
    this.#clock = clock;
    this.#maxCallers = maxCallers;
    this.#bornMs = clock.monotonicMs();
  }

  /** Number of callers in memory, at most twice `maxCallers`. */
  get size(): number {
    return this.#younger.size + this.#older.size;
  }

  /** Counts a request of `caller` unless the last minute already has `limit` (1 or more). */
  count(caller: string, limit: number): RequestCount {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#bornMs >= WINDOW_MS) this.#begin(nowMs);
    const ring = this.#ringOf(caller, nowMs);
    ring.dropUntil(nowMs - WINDOW_MS);
    const isAllowed = ring.size < limit;
    if (isAllowed) ring.push(nowMs);
    return { isAllowed, ...windowState(ring, limit, nowMs) };
  }

  /** Returns the count of `caller` as it is, without counting a request. */
  peek(caller: string, limit: number): RequestCount {
    const nowMs = this.#clock.monotonicMs();
    const ring = this.#younger.get(caller) ?? this.#older.get(caller);
    ring?.dropUntil(nowMs - WINDOW_MS);
    if (ring === undefined || ring.size === 0) return { isAllowed: true, remaining: limit, freesInMs: 0 };
    return { isAllowed: ring.size < limit, ...windowState(ring, limit, nowMs) };
  }

  #ringOf(caller: string, nowMs: number): TimeRing {
    const young = this.#younger.get(caller);
    if (young !== undefined) return young;
    const ring = this.#older.get(caller) ?? new TimeRing();
    if (this.#younger.size >= this.#maxCallers) this.#begin(nowMs);
    this.#older.delete(caller);
    this.#younger.set(caller, ring);
    return ring;
  }

  #begin(nowMs: number): void {
    this.#older = this.#younger;
    this.#younger = new Map();
    this.#bornMs = nowMs;
  }
}

/**
 * `ring` must not be empty. After the limit is lowered, it may contain more requests. Then a later request frees the
 * next.
 */
function windowState(ring: TimeRing, limit: number, nowMs: number): Omit<RequestCount, "isAllowed"> {
  const freesAtMs = ring.at(Math.max(0, ring.size - limit)) + WINDOW_MS;
  return { remaining: Math.max(0, limit - ring.size), freesInMs: freesAtMs - nowMs };
}

/** A growing circular buffer of times, oldest first. */
class TimeRing {
  #times = new Float64Array(FIRST_CAPACITY);
  #first = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns the time at `index`, 0 for the oldest. */
  at(index: number): number {
    return this.#times[(this.#first + index) % this.#times.length] ?? 0;
  }

  push(time: number): void {
    if (this.#size === this.#times.length) this.#grow();
    this.#times[(this.#first + this.#size) % this.#times.length] = time;
    this.#size += 1;
  }

  /** Drops all times up to and including `time`, by binary search, because a whole minute may be dropped at once. */
  dropUntil(time: number): void {
    if (this.#size === 0 || this.at(0) > time) return;
    let [kept, dropped] = [this.#size, 0];
    while (dropped + 1 < kept) {
      const middle = (dropped + kept) >>> 1;
      if (this.at(middle) <= time) dropped = middle;
      else kept = middle;
    }
    this.#first = (this.#first + kept) % this.#times.length;
    this.#size -= kept;
  }

  #grow(): void {
    const grown = new Float64Array(this.#times.length * 2);
    grown.set(this.#times.subarray(this.#first));
    grown.set(this.#times.subarray(0, this.#first), this.#times.length - this.#first);
    this.#times = grown;
    this.#first = 0;
  }
}
