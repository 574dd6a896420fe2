import type { Clock } from "../../shared/clock.ts";

export const WINDOW_MS = 60_000;
/** Callers of a generation; see {@link RequestWindow}. Reached only by a flood. */
const MAX_CALLERS = 50_000;
/** A caller that comes once costs little; a busy one's ring grows to its limit. */
const FIRST_CAPACITY = 8;

/** Where a caller stands after a request. */
export interface RequestCount {
  /** False: the request is over the limit, and was not counted. */
  readonly isAllowed: boolean;
  /** Requests that would still be allowed at once. */
  readonly remaining: number;
  /** Until the oldest request that counts no longer does, which is when one more is allowed. */
  readonly freesInMs: number;
}

/**
 * Counts requests by caller in an exact sliding window: no minute, wherever it begins, has more than the limit. Requests that are
 * refused for it do not count, so that a client which waits as told is let in.
 *
 * Callers live in two generations. One who comes moves to the younger; each minute the older is dropped, and with it only callers
 * of whom no request counts any more. A flood of callers ends a generation early: memory is bounded, and what may be forgotten
 * too soon is who has been quiet longest. (Callers in the order of their last request, in one Map, would be simpler, but its
 * first entry is found only past all that were moved away.)
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

  /** Callers that are remembered; at most twice the bound. */
  get size(): number {
    return this.#younger.size + this.#older.size;
  }

  /** Counts a request of `caller` unless it has made `limit` (1 or more) within the last minute. */
  count(caller: string, limit: number): RequestCount {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#bornMs >= WINDOW_MS) this.#begin(nowMs);
    const ring = this.#ringOf(caller, nowMs);
    ring.dropUntil(nowMs - WINDOW_MS);
    const isAllowed = ring.size < limit;
    if (isAllowed) ring.push(nowMs);
    return { isAllowed, ...standing(ring, limit, nowMs) };
  }

  /** Where `caller` stands, without a request: whether one more would be allowed. Nobody is remembered for it. */
  look(caller: string, limit: number): RequestCount {
    const nowMs = this.#clock.monotonicMs();
    const ring = this.#younger.get(caller) ?? this.#older.get(caller);
    ring?.dropUntil(nowMs - WINDOW_MS);
    if (ring === undefined || ring.size === 0) return { isAllowed: true, remaining: limit, freesInMs: 0 };
    return { isAllowed: ring.size < limit, ...standing(ring, limit, nowMs) };
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

/** `ring` is not empty. A lowered limit may leave more in it than it allows: then the one that makes room is not the oldest. */
function standing(ring: TimeRing, limit: number, nowMs: number): Omit<RequestCount, "isAllowed"> {
  const freesAtMs = ring.at(Math.max(0, ring.size - limit)) + WINDOW_MS;
  return { remaining: Math.max(0, limit - ring.size), freesInMs: freesAtMs - nowMs };
}

/** Times in their order, oldest first; a circular buffer that grows. */
class TimeRing {
  #times = new Float64Array(FIRST_CAPACITY);
  #first = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The time at `index`, 0 for the oldest. */
  at(index: number): number {
    return this.#times[(this.#first + index) % this.#times.length] ?? 0;
  }

  push(time: number): void {
    if (this.#size === this.#times.length) this.#grow();
    this.#times[(this.#first + this.#size) % this.#times.length] = time;
    this.#size += 1;
  }

  /** Drops all times up to and including `time`. Of a long minute all may go at once, so that they are not walked through. */
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

  /** The ring is full. */
  #grow(): void {
    const grown = new Float64Array(this.#times.length * 2);
    grown.set(this.#times.subarray(this.#first));
    grown.set(this.#times.subarray(0, this.#first), this.#times.length - this.#first);
    this.#times = grown;
    this.#first = 0;
  }
}
