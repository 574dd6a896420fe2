/** A straight line `base + slope · x`, in ms. */
export interface Line {
  readonly base: number;
  readonly slope: number;
}

/** Factor by which each measurement lowers the weight of earlier ones. In the long term about the last ten count. */
const FORGETTING = 0.9;
/** Weight of four measurements, from which outliers are recognised. */
const MIN_WEIGHT = 3.4;
/** A measurement is an outlier if it is further from the line than this many standard deviations and this part. */
const OUTLIER_DEVIATIONS = 3;
const OUTLIER_PART = 0.5;
/** Outliers in a row that are refused. The next one shows that the speed has changed. */
const MAX_REFUSED = 2;
/** Bounds of the line, as factors of its start. */
const MIN_FACTOR = 0.1;
const MAX_FACTOR = 10;

/** Number of numbers of {@link LineFit.numbers}. */
export const LINE_NUMBERS = 8;

/**
 * A line that follows measurements: recursive least squares with forgetting. Measurements at one x say nothing about
 * the slope, so the slope is drawn to that of the start.
 */
export class LineFit {
  /** The line that is assumed before measurements, scaled to the first one; null before it. */
  #start: Line | null = null;
  #weight = 0;
  #meanX = 0;
  #meanY = 0;
  #squares = 0;
  #products = 0;
  /** Mean square of the distances to the line. */
  #variance = 0;
  #refused = 0;
  readonly #stiffness: number;
  #line: Line | null = null;

  /** @param spread Difference of two typical x. Measurements that differ less hardly change the slope. */
  constructor(spread: number) {
    this.#stiffness = spread ** 2;
  }

  get isMeasured(): boolean {
    return this.#start !== null;
  }

  /** The line, fitted with each measurement because a decision reads many; null before the first one. */
  get line(): Line | null {
    return this.#line;
  }

  /** Returns the expected ms at x: at least 0.1 and at most 10 times the start. Null before the first measurement. */
  at(x: number): number | null {
    if (this.#line === null || this.#start === null) return null;
    return bounded(valueAt(this.#line, x), valueAt(this.#start, x));
  }

  /**
   * Adds a measurement, unless it is an outlier.
   * @param start Assumed line before the first measurement.
   * @param isGuess True if the start says nothing about the level of the first measurement.
   */
  add(x: number, y: number, start: Line, isGuess: boolean): void {
    // A prompt without unread tokens says nothing about a line through 0.
    if (valueAt(this.#start ?? start, x) <= 0) return;
    const expected = this.at(x);
    if (expected === null || this.#start === null) return this.#begin(x, y, start, isGuess);
    const measured = bounded(y, valueAt(this.#start, x));
    const isFar = Math.abs(y - expected) > OUTLIER_DEVIATIONS * Math.sqrt(this.#variance) + OUTLIER_PART * expected;
    if (isFar && this.#weight > MIN_WEIGHT) {
      this.#refused += 1;
      if (this.#refused > MAX_REFUSED) this.#begin(x, y, this.#start, true);
      return;
    }
    this.#refused = 0;
    this.#variance += (1 - FORGETTING) * ((measured - expected) ** 2 - this.#variance);
    this.#weight = this.#weight * FORGETTING + 1;
    const fromMean = x - this.#meanX;
    this.#meanX += fromMean / this.#weight;
    this.#meanY += (measured - this.#meanY) / this.#weight;
    this.#squares = this.#squares * FORGETTING + fromMean * (x - this.#meanX);
    this.#products = this.#products * FORGETTING + fromMean * (measured - this.#meanY);
    this.#fit(this.#start);
  }

  /** The state as numbers, for {@link restore}. */
  numbers(): number[] {
    const { base = 0, slope = 0 } = this.#start ?? {};
    return [base, slope, this.#weight, this.#meanX, this.#meanY, this.#squares, this.#products, this.#variance];
  }

  restore(numbers: readonly number[]): void {
    const [base = 0, slope = 0, weight = 0, meanX = 0, meanY = 0, squares = 0, products = 0, variance = 0] = numbers;
    if (weight <= 0) return;
    this.#start = { base, slope };
    this.#weight = weight;
    this.#meanX = meanX;
    this.#meanY = meanY;
    this.#squares = squares;
    this.#products = products;
    this.#variance = variance;
    this.#fit(this.#start);
  }

  #begin(x: number, y: number, start: Line, isGuess: boolean): void {
    const atStart = valueAt(start, x);
    const first = isGuess ? Math.max(y, Number.EPSILON) : bounded(y, atStart);
    this.#start = { base: (start.base * first) / atStart, slope: (start.slope * first) / atStart };
    this.#weight = 1;
    this.#meanX = x;
    this.#meanY = first;
    this.#squares = 0;
    this.#products = 0;
    this.#variance = 0;
    this.#refused = 0;
    this.#fit(this.#start);
  }

  #fit(start: Line): void {
    const scale = this.#meanY / valueAt(start, this.#meanX);
    const pull = this.#stiffness;
    const slope = Math.max(0, (this.#products + pull * start.slope * scale) / (this.#squares + pull));
    this.#line = { base: Math.max(0, this.#meanY - slope * this.#meanX), slope };
  }
}

export function valueAt({ base, slope }: Line, x: number): number {
  return base + slope * x;
}

function bounded(value: number, atStart: number): number {
  return Math.min(MAX_FACTOR * atStart, Math.max(MIN_FACTOR * atStart, value));
}
