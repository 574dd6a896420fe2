import type { Timings } from "../../../shared/output.ts";

/**
 * A burst after a long silence is no speed: an Island could hold back its first token and send the rest at once. The speed is at most
 * this many times the tokens by the time since the job was assigned, which also has the load and the prompt in it.
 */
const MAX_BURST = 8;

/** Measures one attempt on the coordinator's clock. Times are those of `Clock.monotonicMs`. An Island's own figures are never used. */
export class AttemptMeter {
  readonly #assignedMs: number;
  #firstMs: number | null = null;
  #lastMs: number;
  #firstTokens = 0;
  #tokens = 0;

  constructor(assignedMs: number) {
    this.#assignedMs = assignedMs;
    this.#lastMs = assignedMs;
  }

  /** `tokens`: those of one output frame. */
  deliver(nowMs: number, tokens: number): void {
    if (tokens === 0) return;
    if (this.#firstMs === null) {
      this.#firstMs = nowMs;
      this.#firstTokens = tokens;
    }
    this.#lastMs = nowMs;
    this.#tokens += tokens;
  }

  /** Tokens a second, from what was delivered and on our clock; null for a run whose speed does not show. */
  get tokensPerSecond(): number | null {
    const later = this.#tokens - this.#firstTokens;
    const streamedMs = this.#lastMs - (this.#firstMs ?? this.#lastMs);
    if (later === 0) return null;
    const most = (MAX_BURST * this.#tokens) / Math.max(1, this.#lastMs - this.#assignedMs);
    return Math.min(later / Math.max(1, streamedMs), most) * 1_000;
  }

  /** An Island's timings, none longer than the time that has passed. They are for the job's own client. */
  bounded({ loadMs, firstOutputMs, runMs }: Timings, nowMs: number): Timings {
    const passedMs = Math.max(0, nowMs - this.#assignedMs);
    const bound = (ms: number): number => Math.min(ms, passedMs);
    return {
      loadMs: bound(loadMs),
      firstOutputMs: firstOutputMs === null ? null : bound(firstOutputMs),
      runMs: bound(runMs),
    };
  }
}
