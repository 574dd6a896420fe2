import { LINE_NUMBERS, LineFit, valueAt, type Line } from "./line-fit.ts";

/**
 * Speed of one Cargo on one Island. `read`: ms until the first output, by prompt tokens that are not in a cache; for a
 * Cargo without tokens, ms of a run by bytes of its input. `write`: ms between two tokens, by running jobs.
 */
export interface Speed {
  readonly read: Line;
  readonly write: Line;
}

/** The speed that is assumed before the first run. */
export interface AssumedSpeed extends Speed {
  /** True if no Island of the same hardware was measured. */
  readonly isGuess: boolean;
}

/** Differences of two typical prompts and of two typical numbers of running jobs. */
const READ_SPREAD = 500;
const WRITE_SPREAD = 1;
/** Weights of the newest load and of the newest failure in their moving averages. */
const NEWEST_LOAD = 0.3;
const NEWEST_FAILURE = 0.2;
/** Shortest ms of a measurement: a shorter one is the coordinator's own time. */
const MIN_MS = 0.001;
const OTHER_NUMBERS = 3;
/** Prompt tokens and output tokens of a job with which Islands are compared. */
const TYPICAL = { input: 500, output: 200 };

/** Measurements of one Cargo on one Island, by the coordinator's clock. */
export class SpeedCurve {
  readonly #read = new LineFit(READ_SPREAD);
  readonly #write = new LineFit(WRITE_SPREAD);
  /** Moving average of the time that loading the model takes; null until it was loaded once. */
  loadMs: number | null = null;
  /** Moving average of failures, 0 to 1. */
  failureRate = 0;
  /** Factor of the measured times: above 1 if the Island seems faster than the best of its hardware class. */
  slowness = 1;
  /** Time of the latest start on the scheduler's clock; -Infinity before the first in this process. */
  startedAtMs = -Infinity;
  /** True if the curve differs from the stored one. */
  hasChanged = false;

  /** True after the first run that succeeded. */
  get isMeasured(): boolean {
    return this.#read.isMeasured;
  }

  /** Returns the expected ms to read; see {@link Speed}. */
  readMs(x: number, assumed: AssumedSpeed): number {
    return this.slowness * (this.#read.at(x) ?? valueAt(assumed.read, x));
  }

  /** Returns the expected ms between two tokens while `jobs` jobs run, this one included. */
  writeMs(jobs: number, assumed: AssumedSpeed): number {
    return this.slowness * (this.#write.at(jobs) ?? valueAt(assumed.write, jobs));
  }

  /** Returns the ms that one more job adds to each token of another. */
  crowdingMs(assumed: AssumedSpeed): number {
    return this.slowness * (this.#write.line ?? assumed.write).slope;
  }

  /** Returns the speed without {@link slowness}. */
  measured(assumed: AssumedSpeed): Speed {
    return { read: this.#read.line ?? assumed.read, write: this.#write.line ?? assumed.write };
  }

  addRead(x: number, ms: number, assumed: AssumedSpeed): void {
    this.#read.add(x, Math.max(MIN_MS, ms), assumed.read, assumed.isGuess);
    this.hasChanged = true;
  }

  addWrite(jobs: number, ms: number, assumed: AssumedSpeed): void {
    this.#write.add(jobs, Math.max(MIN_MS, ms), assumed.write, assumed.isGuess);
    this.hasChanged = true;
  }

  addLoad(ms: number): void {
    this.loadMs = this.loadMs === null ? ms : this.loadMs + NEWEST_LOAD * (ms - this.loadMs);
    this.hasChanged = true;
  }

  addResult(succeeded: boolean): void {
    this.failureRate += NEWEST_FAILURE * ((succeeded ? 0 : 1) - this.failureRate);
    this.hasChanged = true;
  }

  /** The state as numbers, to be stored. */
  numbers(): number[] {
    return [this.loadMs ?? -1, this.failureRate, this.slowness, ...this.#read.numbers(), ...this.#write.numbers()];
  }

  /** Restores {@link numbers}. Ignores numbers of another form, such as those of another version. */
  restore(numbers: readonly number[]): void {
    if (numbers.length !== OTHER_NUMBERS + 2 * LINE_NUMBERS || !numbers.every(Number.isFinite)) return;
    const [loadMs = -1, failureRate = 0, slowness = 1] = numbers;
    this.loadMs = loadMs < 0 ? null : loadMs;
    this.failureRate = failureRate;
    this.slowness = slowness;
    this.#read.restore(numbers.slice(OTHER_NUMBERS, OTHER_NUMBERS + LINE_NUMBERS));
    this.#write.restore(numbers.slice(OTHER_NUMBERS + LINE_NUMBERS));
  }
}

/** Returns the ms of a typical run, to compare Islands. */
export function typicalMs({ read, write }: Speed): number {
  return valueAt(read, TYPICAL.input) + TYPICAL.output * valueAt(write, 1);
}
