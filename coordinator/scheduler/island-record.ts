import type { Quarantine } from "./events.ts";
import { CircuitBreaker, type BreakerPolicy, type BreakerFailure } from "./circuit-breaker.ts";

/** How well one Island runs one Cargo, measured. */
export interface Measure {
  /** Moving average; null until a run had a speed. */
  readonly tokensPerSecond: number | null;
  /** Runs that succeeded and runs that failed. Older ones fade, so both are fractions. */
  readonly successes: number;
  readonly failures: number;
}

export const UNMEASURED: Measure = { tokensPerSecond: null, successes: 0, failures: 0 };

export interface BreakerPolicies {
  readonly ofCargo: BreakerPolicy;
  readonly ofIsland: BreakerPolicy;
}

/** Weight of the newest speed. After about ten runs the older ones hardly count. */
const NEWEST_WEIGHT = 0.2;
/** What an earlier run still counts after one more: in the long run the last twenty count. */
const FADING = 0.95;

const MINUTE_MS = 60_000;
/** The pauses of one Cargo are shorter than those of a whole Island. */
const OF_CARGO = { maxMs: 10 * MINUTE_MS, maxOfOneAccountMs: 15_000 };
const OF_ISLAND = { maxMs: 30 * MINUTE_MS, maxOfOneAccountMs: MINUTE_MS };
const QUARANTINE_FACTOR = 30;

/** @param firstMs first pause of an Island after it let a job of a Cargo down. @param random 0 to 1; spreads the pauses. */
export function breakerPoliciesOf(firstMs: number, random: () => number): BreakerPolicies {
  return {
    ofCargo: { firstMs, random, ...OF_CARGO },
    ofIsland: { firstMs: firstMs * QUARANTINE_FACTOR, random, ...OF_ISLAND },
  };
}

/** Cargos of which an Island's record is kept; the one that was used least recently is dropped first. */
const MAX_CARGOS = 256;
/** An Island is in quarantine after this many let-downs in a row, of at least two Cargos. */
const QUARANTINE_AFTER = 4;
const MIN_QUARANTINE_CARGOS = 2;

/** What is remembered of an Island, also while it is away: how it runs each Cargo, and what it is kept from. Nothing before its first job. */
export class IslandRecord {
  readonly #islandId: string;
  readonly #policy: BreakerPolicies;
  /** By slug. */
  #measures: Map<string, Measure> | null = null;
  /** By slug. Only Cargos of which it let down the latest job. */
  #breakers: Map<string, CircuitBreaker> | null = null;
  readonly quarantine: CircuitBreaker;
  /** Let-downs since the last success, without those of a Cargo that was paused already. */
  #failures = 0;
  /** Some of the Cargos whose jobs were let down since the last success. */
  #failedCargos: Set<string> | null = null;

  constructor(islandId: string, policy: BreakerPolicies) {
    this.#islandId = islandId;
    this.#policy = policy;
    this.quarantine = new CircuitBreaker(islandId, null, policy.ofIsland);
  }

  /** Null if the Island is in no quarantine. */
  quarantineAt(nowMs: number): Quarantine | null {
    const { isPaused, untilMs, last } = this.quarantine;
    if (last === null) return null;
    return {
      inARow: this.#failures,
      forMs: isPaused ? Math.max(0, Math.round(untilMs - nowMs)) : 0,
      lastCode: last.code,
    };
  }

  get paused(): CircuitBreaker[] {
    return this.#allBreakers().filter(({ isPaused }) => isPaused);
  }

  /** A job left the Island. Returns the pauses whose probe it was. */
  release(jobId: string): CircuitBreaker[] {
    return this.#allBreakers().filter((breaker) => breaker.release(jobId));
  }

  /** The Island has no job any more. */
  releaseAll(): void {
    for (const breaker of this.#allBreakers()) breaker.releaseAny();
  }

  measureOf(slug: string): Measure {
    return this.#measures?.get(slug) ?? UNMEASURED;
  }

  /** The pause of a Cargo; undefined if the Island let down no job of it lately. */
  breakerOf(slug: string): CircuitBreaker | undefined {
    return this.#breakers?.get(slug);
  }

  /** Adds a run. One that succeeded ends every doubt about the Cargo and the Island. Returns the pauses that it ended. */
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

  /** Adds a let-down. Returns the pauses that it began. */
  addFailure(slug: string, failure: BreakerFailure, nowMs: number): CircuitBreaker[] {
    const before = new Set(this.paused);
    this.#breakers ??= new Map();
    this.#failedCargos ??= new Set();
    let breaker = this.#breakers.get(slug);
    if (breaker === undefined) {
      if (this.#breakers.size >= MAX_CARGOS) dropOldest(this.#breakers);
      breaker = new CircuitBreaker(this.#islandId, slug, this.#policy.ofCargo);
      this.#breakers.set(slug, breaker);
    }
    if (!breaker.isPaused) {
      this.#failures += 1;
      if (this.#failedCargos.size < MIN_QUARANTINE_CARGOS) this.#failedCargos.add(slug);
    }
    breaker.add(failure, nowMs);
    const isBroken = this.#failures >= QUARANTINE_AFTER && this.#failedCargos.size >= MIN_QUARANTINE_CARGOS;
    if (isBroken) this.quarantine.add(failure, nowMs);
    return this.paused.filter((each) => !before.has(each));
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

/** The measure with one more run. A speed that is not a finite number above 0 is ignored. */
export function withRun(
  measure: Measure,
  run: { readonly tokensPerSecond: number | null; readonly succeeded: boolean },
): Measure {
  return {
    tokensPerSecond: averageSpeed(measure.tokensPerSecond, run.tokensPerSecond),
    successes: measure.successes * FADING + (run.succeeded ? 1 : 0),
    failures: measure.failures * FADING + (run.succeeded ? 0 : 1),
  };
}

/**
 * A success rate that one may count on, 0 to 1: the mean less one standard deviation of the Beta distribution that follows from a
 * uniform prior (Laplace's rule of succession; Gelman et al., "Bayesian Data Analysis", 2.1). A newcomer starts at 0.21 and has to earn
 * its rank: 0.55 after two runs that succeeded, 0.90 after forty.
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
