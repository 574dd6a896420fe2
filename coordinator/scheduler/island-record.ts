import type { StoredCurve } from "../store/islands.ts";
import type { Quarantine } from "./events.ts";
import { CircuitBreaker, type BreakerPolicy, type BreakerFailure } from "./circuit-breaker.ts";
import { SpeedCurve } from "./speed-curve.ts";

/** The curve of a Cargo without runs. */
const UNMEASURED = new SpeedCurve();

export interface BreakerPolicies {
  readonly ofCargo: BreakerPolicy;
  readonly ofIsland: BreakerPolicy;
}

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

/** The speeds and circuit breakers of an Island, kept while it is away. */
export class IslandRecord {
  readonly #islandId: string;
  readonly #policy: BreakerPolicies;
  #curves: Map<string, SpeedCurve> | null = null;
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

  /** Returns what was observed of a Cargo. The result of a Cargo without runs must not be changed. */
  curveOf(slug: string): SpeedCurve {
    return this.#curves?.get(slug) ?? UNMEASURED;
  }

  /** Returns the curve of a Cargo, to be changed. */
  ownCurveOf(slug: string): SpeedCurve {
    this.#curves ??= new Map();
    const curve = this.#curves.get(slug) ?? new SpeedCurve();
    // The only entry stays: a Map that becomes empty allocates a new table.
    if (this.#curves.size > 1) this.#curves.delete(slug);
    this.#curves.set(slug, curve);
    if (this.#curves.size > MAX_CARGOS) dropOldest(this.#curves);
    return curve;
  }

  /** Returns all curves if one has changed since the last call; otherwise none. */
  takeChangedCurves(): StoredCurve[] {
    const curves = [...(this.#curves ?? [])];
    if (!curves.some(([, curve]) => curve.hasChanged)) return [];
    for (const [, curve] of curves) curve.hasChanged = false;
    return curves.map(([slug, curve]) => ({ slug, numbers: curve.numbers() }));
  }

  /** Returns the breaker of a Cargo; undefined if the latest job of the Cargo on the Island did not fail. */
  breakerOf(slug: string): CircuitBreaker | undefined {
    return this.#breakers?.get(slug);
  }

  /** Counts a success. Returns the breakers of the Cargo and of the Island that it closed. */
  addSuccess(slug: string): CircuitBreaker[] {
    const breaker = this.#breakers?.get(slug);
    const ended = [this.quarantine, ...(breaker === undefined ? [] : [breaker])].filter(({ inARow }) => inARow > 0);
    for (const breaker of ended) breaker.reset();
    this.#breakers?.delete(slug);
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
