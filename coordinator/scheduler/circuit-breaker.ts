import { backoffMs } from "../../shared/async/backoff.ts";
import type { JobErrorCode } from "../../shared/errors.ts";
import type { HeapItem } from "./indexed-heap.ts";

/** How an Island failed a job. `lost`: the Island, or the job on it, was lost. */
export type FailureCause = "refused" | "failed" | "lost";

export interface BreakerFailure {
  readonly cause: FailureCause;
  readonly code: JobErrorCode;
  readonly accountId: string;
}

export interface BreakerPolicy {
  /** Open time after the first failure. It grows exponentially with each failure in a row, up to `maxMs`. */
  readonly firstMs: number;
  readonly maxMs: number;
  /** Maximum open time while only jobs of one account failed: these jobs may be the cause. */
  readonly maxOfOneAccountMs: number;
  readonly random: () => number;
}

/** Refusals with a lasting cause. The first open time is then 30 times as long. */
const LASTING_REFUSALS: readonly JobErrorCode[] = ["manifest_untrusted", "runtime_unavailable", "model_hash_mismatch"];
const LASTING_FACTOR = 30;

/**
 * A circuit breaker for an Island (Nygard, "Release It!", 2007) with exponential backoff and jitter. After it was open,
 * the Island gets one job as a probe: success closes the breaker, failure opens it for longer.
 */
export class CircuitBreaker implements HeapItem {
  heapIndex = -1;
  readonly islandId: string;
  /** Slug of the Cargo whose jobs the breaker blocks; null if it blocks jobs of every Cargo. */
  readonly slug: string | null;
  // Only the methods below write these fields.
  isOpen = false;
  /** Number of failures in a row; 0 while the breaker is closed. */
  inARow = 0;
  /** Time at which the open breaker admits a probe, on the scheduler's clock. */
  untilMs = 0;
  last: BreakerFailure | null = null;
  readonly #policy: BreakerPolicy;
  /** The account of all failures in a row; null once there were several accounts. */
  #accountId: string | null = null;
  #probeJobId: string | null = null;

  constructor(islandId: string, slug: string | null, policy: BreakerPolicy) {
    this.islandId = islandId;
    this.slug = slug;
    this.#policy = policy;
  }

  /** True if the Island gets no job: the breaker is open, or a probe runs. */
  get blocks(): boolean {
    return this.isOpen || this.#probeJobId !== null;
  }

  /**
   * Opens the breaker, for longer after each failure in a row. A failure while it is open does not extend the open
   * time.
   */
  add(failure: BreakerFailure, nowMs: number): void {
    this.last = failure;
    if (this.isOpen) return;
    const { accountId, cause, code } = failure;
    this.#accountId = this.inARow === 0 || this.#accountId === accountId ? accountId : null;
    this.inARow += 1;
    this.isOpen = true;
    this.#probeJobId = null;
    const { random } = this.#policy;
    const isLasting = cause === "refused" && LASTING_REFUSALS.includes(code);
    const firstMs = this.#policy.firstMs * (isLasting ? LASTING_FACTOR : 1);
    const mayBeJobFault = cause !== "refused" && this.#accountId !== null;
    const maxMs = Math.max(this.#policy.firstMs, mayBeJobFault ? this.#policy.maxOfOneAccountMs : this.#policy.maxMs);
    this.untilMs = nowMs + backoffMs(this.inARow, { firstMs, maxMs, random });
  }

  /** Ends the open time. The next job is a probe. */
  expire(): void {
    this.isOpen = false;
  }

  /** Records the job as the probe if the breaker was open before. */
  assign(jobId: string): void {
    if (this.inARow > 0) this.#probeJobId = jobId;
  }

  /** Handles a job that left the Island. Returns true if it was the probe; the next job is then a probe. */
  release(jobId: string): boolean {
    if (this.#probeJobId !== jobId) return false;
    this.#probeJobId = null;
    return true;
  }

  /** Handles the loss of all jobs of the Island. */
  releaseAny(): void {
    this.#probeJobId = null;
  }

  reset(): void {
    this.inARow = 0;
    this.isOpen = false;
    this.#probeJobId = null;
    this.last = null;
  }
}

export function hasLowerId(a: CircuitBreaker, b: CircuitBreaker): boolean {
  return a.islandId === b.islandId ? (a.slug ?? "") < (b.slug ?? "") : a.islandId < b.islandId;
}
