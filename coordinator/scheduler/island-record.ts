import type { Quarantine } from "./events.ts";
import { CircuitBreaker, type BreakerPolicy, type BreakerFailure } from "./circuit-breaker.ts";

/** Measurements of one Island with one Cargo. */
export interface Measure {
  /** Moving average of the speed; null until a run had one. */
  readonly tokensPerSecond: number | null;
  /** Numbers of successful and failed runs. Older runs count less, so both numbers are fractions. */
  readonly successes: number;
  readonly failures: number;
}

export const UNMEASURED: Measure = { tokensPerSecond: null, successes: 0, failures: 0 };

export interface BreakerPolicies {
  readonly ofCargo: BreakerPolicy;
  readonly ofIsland: BreakerPolicy;
}

/** Weight of the newest speed in the moving average. After about ten runs older speeds hardly count. */
const NEWEST_WEIGHT = 0.2;
/** Factor by which each run lowers the weight of earlier runs. In the long term about the last twenty runs count. */
const DECAY = 0.95;

const MINUTE_MS = 60_000;
const OF_CARGO = { maxMs: 10 * MINUTE_MS, maxOfOneAccountMs: 15_000 };
const OF_ISLAND = { maxMs: 30 * MINUTE_MS, maxOfOneAccountMs: MINUTE_MS };
/** First open time of the quarantine, as a multiple of the breaker's. */
const QUARANTINE_FACTOR = 30;

/**
 * Returns the policies of the breakers of Cargos and Islands.
 * @param random Returns 0 to 1, to spread the open times.
 */
export function breakerPoliciesOf(firstMs: number, random: () => number): BreakerPolicies {
  return {
    ofCargo: { firstMs, random, ...OF_CARGO },
    ofIsland: { firstMs: firstMs * QUARANTINE_FACTOR, random, ...OF_ISLAND },
  };
}

/** Maximum number of Cargos in the record of an Island. The least recently used is dropped first. */
const MAX_CARGOS = 256;
/** Number of failures in a row, of at least two Cargos, after which an Island is in quarantine. */
const QUARANTINE_AFTER = 4;
const MIN_QUARANTINE_CARGOS = 2;

/** The measurements and circuit breakers of an Island, kept while it is away. */
export class IslandRecord {
  readonly #islandId: string;
  readonly #policy: BreakerPolicies;
  #measures: Map<string, Measure> | null = null;
  /** Breakers of the Cargos whose latest job failed, by slug; null for none. */
  #breakers: Map<string, CircuitBreaker> | null = null;
  readonly quarantine: CircuitBreaker;
  /** Number of failures since the last success, without those of a Cargo whose breaker was already open. */
  #failures = 0;
  /** Slugs of Cargos with failures since the last success, at most two; null for none. */
  #failedCargos: Set<string> | null = null;

  constructor(islandId: string, policy: BreakerPolicies) {
    this.#islandId = islandId;
    this.#policy = policy;
    this.quarantine = new CircuitBreaker(islandId, null, policy.ofIsland);
  }

  /** Returns the quarantine of the Island; null if it is not in quarantine. */
  quarantineAt(nowMs: number): Quarantine | null {
    const { isOpen, untilMs, last } = this.quarantine;
    if (last === null) return null;
    return {
      inARow: this.#failures,
      forMs: isOpen ? Math.max(0, Math.round(untilMs - nowMs)) : 0,
      lastCode: last.code,
    };
  }

  get openBreakers(): CircuitBreaker[] {
    return this.#allBreakers().filter(({ isOpen }) => isOpen);
  }

  /** Handles a job that left the Island. Returns the breakers for which the job was the probe. */
  release(jobId: string): CircuitBreaker[] {
    return this.#allBreakers().filter((breaker) => breaker.release(jobId));
  }

  releaseAll(): void {
    for (const breaker of this.#allBreakers()) breaker.releaseAny();
  }

  measureOf(slug: string): Measure {
    return this.#measures?.get(slug) ?? UNMEASURED;
  }

  /** Returns the breaker of a Cargo; undefined if the latest job of the Cargo on the Island did not fail. */
  breakerOf(slug: string): CircuitBreaker | undefined {
    return this.#breakers?.get(slug);
  }

  /** Adds a run. Returns the breakers of the Cargo and of the Island that its success closed. */
  addRun(run: {
    readonly slug: string;
    readonly tokensPerSecond: number | null;
    readonly succeeded: boolean;
  }): CircuitBreaker[] {
    const measure = withRun(this.measureOf(run.slug), run);
    this.#measures ??= new Map();
    this.#measures.delete(run.slug);
    this.#measures.set(run.slug, measure);
    if (this.#measures.size > MAX_CARGOS) dropOldest(this.#measures);
    if (!run.succeeded) return [];
    const breaker = this.#breakers?.get(run.slug);
    const ended = [this.quarantine, ...(breaker === undefined ? [] : [breaker])].filter(({ inARow }) => inARow > 0);
    for (const breaker of ended) breaker.reset();
    this.#breakers?.delete(run.slug);
    this.#failures = 0;
    this.#failedCargos = null;
    return ended;
  }

  addFailure(slug: string, failure: BreakerFailure, nowMs: number): CircuitBreaker[] {
    const before = new Set(this.openBreakers);
    this.#breakers ??= new Map();
    this.#failedCargos ??= new Set();
    let breaker = this.#breakers.get(slug);
    if (breaker === undefined) {
      if (this.#breakers.size >= MAX_CARGOS) dropOldest(this.#breakers);
      breaker = new CircuitBreaker(this.#islandId, slug, this.#policy.ofCargo);
      this.#breakers.set(slug, breaker);
    }
    if (!breaker.isOpen) {
      this.#failures += 1;
      if (this.#failedCargos.size < MIN_QUARANTINE_CARGOS) this.#failedCargos.add(slug);
    }
    breaker.add(failure, nowMs);
    const isQuarantined = this.#failures >= QUARANTINE_AFTER && this.#failedCargos.size >= MIN_QUARANTINE_CARGOS;
    if (isQuarantined) this.quarantine.add(failure, nowMs);
    return this.openBreakers.filter((each) => !before.has(each));
  }

  #allBreakers(): CircuitBreaker[] {
    return this.#breakers === null ? [this.quarantine] : [this.quarantine, ...this.#breakers.values()];
  }
}

function dropOldest(map: Map<string, unknown>): void {
  for (const key of map.keys()) {
    map.delete(key);
    return;
  }
}

/** Returns the measurements after another run. Ignores a speed that is not a finite number above 0. */
export function withRun(
  measure: Measure,
  run: { readonly tokensPerSecond: number | null; readonly succeeded: boolean },
): Measure {
  return {
    tokensPerSecond: averageSpeed(measure.tokensPerSecond, run.tokensPerSecond),
    successes: measure.successes * DECAY + (run.succeeded ? 1 : 0),
    failures: measure.failures * DECAY + (run.succeeded ? 0 : 1),
  };
}

/**
 * Returns a conservative success rate, 0 to 1: the mean less one standard deviation of the Beta distribution that
 * follows from a uniform prior (Gelman et al., "Bayesian Data Analysis", 2.1). A new Island starts at 0.21, has 0.55
 * after two successful runs and 0.90 after forty.
 */
export function reliableSuccessRate({ successes, failures }: Measure): number {
  const a = successes + 1;
  const b = failures + 1;
  const mean = a / (a + b);
  const deviation = Math.sqrt((a * b) / ((a + b) ** 2 * (a + b + 1)));
  return Math.max(0, mean - deviation);
}

function averageSpeed(average: number | null, newest: number | null): number | null {
  if (newest === null || !Number.isFinite(newest) || newest <= 0) return average;
  return average === null ? newest : average + NEWEST_WEIGHT * (newest - average);
}
