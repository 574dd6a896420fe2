import { backoffMs } from "../../shared/async/backoff.ts";
import type { JobErrorCode } from "../../shared/errors.ts";
import type { HeapItem } from "./indexed-heap.ts";

/** How an Island let a job down. `lost`: the Island, or the job on it, was lost. */
export type FailureCause = "refused" | "failed" | "lost";

/** An Island let a job of an account down. */
export interface BreakerFailure {
  readonly cause: FailureCause;
  readonly code: JobErrorCode;
  readonly accountId: string;
}

export interface BreakerPolicy {
  readonly firstMs: number;
  readonly maxMs: number;
  /** Longest pause while the jobs of one account alone failed: they may be at fault, and must not keep an Island from others. */
  readonly maxOfOneAccountMs: number;
  readonly random: () => number;
}

/** Refusals that no wait cures soon: the Island is asked again much later. */
const LASTING_REFUSALS: readonly JobErrorCode[] = ["manifest_untrusted", "runtime_unavailable", "model_hash_mismatch"];
const LASTING_FACTOR = 30;

/**
 * Keeps jobs from an Island that let some down: a circuit breaker (Nygard, "Release It!", 2007) with exponential backoff and jitter.
 * While it is paused the Island gets none. Then it gets a single one as a probe: a success ends it all, a failure pauses it for longer.
 */
export class CircuitBreaker implements HeapItem {
  heapIndex = -1;
  readonly islandId: string;
  /** Null: jobs of any Cargo. */
  readonly slug: string | null;
  // Only the methods below write these four.
  isPaused = false;
  /** Let-downs in a row; 0 for an Island that is trusted. */
  inARow = 0;
  /** The end of the pause, on the scheduler's clock. */
  untilMs = 0;
  last: BreakerFailure | null = null;
  readonly #rules: BreakerPolicy;
  /** The account of all let-downs in a row; null once there were several. */
  #accountId: string | null = null;
  #probeJobId: string | null = null;

  constructor(islandId: string, slug: string | null, rules: BreakerPolicy) {
    this.islandId = islandId;
    this.slug = slug;
    this.#rules = rules;
  }

  /** The Island gets no job: it is paused, or runs a probe. */
  get holds(): boolean {
    return this.isPaused || this.#probeJobId !== null;
  }

  /** Begins a pause, longer than the one before. Jobs that were under way when it began do not make it longer. */
  add(failure: BreakerFailure, nowMs: number): void {
    this.last = failure;
    if (this.isPaused) return;
    const { accountId, cause, code } = failure;
    this.#accountId = this.inARow === 0 || this.#accountId === accountId ? accountId : null;
    this.inARow += 1;
    this.isPaused = true;
    this.#probeJobId = null;
    const { random } = this.#rules;
    const isLasting = cause === "refused" && LASTING_REFUSALS.includes(code);
    const firstMs = this.#rules.firstMs * (isLasting ? LASTING_FACTOR : 1);
    const mayBeTheJobs = cause !== "refused" && this.#accountId !== null;
    const maxMs = Math.max(this.#rules.firstMs, mayBeTheJobs ? this.#rules.maxOfOneAccountMs : this.#rules.maxMs);
    this.untilMs = nowMs + backoffMs(this.inARow, { firstMs, maxMs, random });
  }

  /** The pause is over: the next job is a probe. */
  expire(): void {
    this.isPaused = false;
  }

  /** A job goes to the Island. */
  assign(jobId: string): void {
    if (this.inARow > 0) this.#probeJobId = jobId;
  }

  /** A job left the Island. True if it was the probe: then another may follow. */
  release(jobId: string): boolean {
    if (this.#probeJobId !== jobId) return false;
    this.#probeJobId = null;
    return true;
  }

  /** The Island has no job any more. */
  releaseAny(): void {
    this.#probeJobId = null;
  }

  /** A job succeeded. */
  reset(): void {
    this.inARow = 0;
    this.isPaused = false;
    this.#probeJobId = null;
    this.last = null;
  }
}

/** The order in which pauses end. */
export function endsFirst(a: CircuitBreaker, b: CircuitBreaker): boolean {
  if (a.untilMs !== b.untilMs) return a.untilMs < b.untilMs;
  return a.islandId === b.islandId ? (a.slug ?? "") < (b.slug ?? "") : a.islandId < b.islandId;
}
