import type { Quarantine } from "./events.ts";
import { Pause, type PauseRules, type Stumble } from "./pause.ts";

/** How well one Island runs one Cargo, measured. */
export interface Measure {
  /** Moving average; null until a run had a speed. */
  readonly tokensPerSecond: number | null;
  /** Runs that succeeded and runs that failed. Older ones fade, so both are fractions. */
  readonly successes: number;
  readonly failures: number;
}

export const UNMEASURED: Measure = { tokensPerSecond: null, successes: 0, failures: 0 };

export interface PausePolicy {
  readonly ofCargo: PauseRules;
  readonly ofIsland: PauseRules;
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
export function pausePolicyOf(firstMs: number, random: () => number): PausePolicy {
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
  readonly #policy: PausePolicy;
  /** By slug. */
  #measures: Map<string, Measure> | null = null;
  /** By slug. Only Cargos of which it let down the latest job. */
  #pauses: Map<string, Pause> | null = null;
  readonly quarantine: Pause;
  /** Let-downs since the last success, without those of a Cargo that was paused already. */
  #letDowns = 0;
  /** Some of the Cargos whose jobs were let down since the last success. */
  #letDownCargos: Set<string> | null = null;

  constructor(islandId: string, policy: PausePolicy) {
    this.#islandId = islandId;
    this.#policy = policy;
    this.quarantine = new Pause(islandId, null, policy.ofIsland);
  }

  /** Null if the Island is in no quarantine. */
  quarantineAt(nowMs: number): Quarantine | null {
    const { isPaused, untilMs, last } = this.quarantine;
    if (last === null) return null;
    return {
      inARow: this.#letDowns,
      forMs: isPaused ? Math.max(0, Math.round(untilMs - nowMs)) : 0,
      lastCode: last.code,
    };
  }

  get paused(): Pause[] {
    return this.#allPauses().filter(({ isPaused }) => isPaused);
  }

  /** A job left the Island. Returns the pauses whose probe it was. */
  release(jobId: string): Pause[] {
    return this.#allPauses().filter((pause) => pause.release(jobId));
  }

  /** The Island has no job any more. */
  releaseAll(): void {
    for (const pause of this.#allPauses()) pause.releaseAny();
  }

  measureOf(slug: string): Measure {
    return this.#measures?.get(slug) ?? UNMEASURED;
  }

  /** The pause of a Cargo; undefined if the Island let down no job of it lately. */
  pauseOf(slug: string): Pause | undefined {
    return this.#pauses?.get(slug);
  }

  /** Adds a run. One that succeeded ends every doubt about the Cargo and the Island. Returns the pauses that it ended. */
  addRun(run: {
    readonly slug: string;
    readonly tokensPerSecond: number | null;
    readonly succeeded: boolean;
  }): Pause[] {
    const measure = withRun(this.measureOf(run.slug), run);
    this.#measures ??= new Map();
    this.#measures.delete(run.slug);
    this.#measures.set(run.slug, measure);
    if (this.#measures.size > MAX_CARGOS) dropOldest(this.#measures);
    if (!run.succeeded) return [];
    const pause = this.#pauses?.get(run.slug);
    const ended = [this.quarantine, ...(pause === undefined ? [] : [pause])].filter(({ inARow }) => inARow > 0);
    for (const pause of ended) pause.reset();
    this.#pauses?.delete(run.slug);
    this.#letDowns = 0;
    this.#letDownCargos = null;
    return ended;
  }

  /** Adds a let-down. Returns the pauses that it began. */
  addStumble(slug: string, stumble: Stumble, nowMs: number): Pause[] {
    const before = new Set(this.paused);
    this.#pauses ??= new Map();
    this.#letDownCargos ??= new Set();
    let pause = this.#pauses.get(slug);
    if (pause === undefined) {
      if (this.#pauses.size >= MAX_CARGOS) dropOldest(this.#pauses);
      pause = new Pause(this.#islandId, slug, this.#policy.ofCargo);
      this.#pauses.set(slug, pause);
    }
    if (!pause.isPaused) {
      this.#letDowns += 1;
      if (this.#letDownCargos.size < MIN_QUARANTINE_CARGOS) this.#letDownCargos.add(slug);
    }
    pause.add(stumble, nowMs);
    const isBroken = this.#letDowns >= QUARANTINE_AFTER && this.#letDownCargos.size >= MIN_QUARANTINE_CARGOS;
    if (isBroken) this.quarantine.add(stumble, nowMs);
    return this.paused.filter((each) => !before.has(each));
  }

  #allPauses(): Pause[] {
    return this.#pauses === null ? [this.quarantine] : [this.quarantine, ...this.#pauses.values()];
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
