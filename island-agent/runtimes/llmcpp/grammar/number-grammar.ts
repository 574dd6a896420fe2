import { choice, DIGIT, NON_ZERO, optional, repeat, sequence, text, type Grammar } from "./gbnf.ts";

interface NumberBounds {
  readonly isInteger: boolean;
  readonly minimum: number;
  readonly maximum: number;
  readonly isAboveMinimum: boolean;
  readonly isBelowMaximum: boolean;
  /** Allowed step; null for any value. */
  readonly multipleOf: number | null;
}

/**
 * Largest integer of 15 digits. Integers of up to 15 digits are exact as doubles; some integers of 16 digits are not.
 */
const MAX_INTEGER = 999_999_999_999_999;
/** Maximum number of listed multiples of a bounded number. */
const MAX_LISTED = 200;
/** Decimals of a number between bounds that are not integers. */
const EDGE_DECIMALS = 4;
const EDGE_SCALE = 10 ** EDGE_DECIMALS;
const MAX_DECIMALS = 15;
const MAX_FRACTIONS = 100;

/**
 * Returns a grammar for JSON numbers within the bounds; undefined if there are no such numbers. Near the bounds it
 * allows only a few decimals. Multiples that cannot be listed are checked when the output is validated.
 */
export function numberGrammar(bounds: NumberBounds): Grammar | undefined {
  const { isInteger, multipleOf } = bounds;
  const listed = multipleOf === null ? undefined : listMultiples(bounds, multipleOf);
  if (listed !== undefined)
    return listed.length === 0 ? undefined : choice(...listed.map((each) => text(String(each))));
  const isWhole = isInteger || (multipleOf !== null && Number.isInteger(multipleOf));
  const { minimum, maximum, isAboveMinimum, isBelowMaximum } = bounds;
  const steps = multipleOf === null ? null : fractionOf(multipleOf);
  const options: Grammar[] = [];
  if (maximum >= 0) {
    const isAbove = minimum >= 0 && isAboveMinimum;
    options.push(...magnitudes([Math.max(0, minimum), isAbove], [maximum, isBelowMaximum], isWhole, steps));
  }
  if (minimum < 0) {
    const isAbove = maximum <= 0 && isBelowMaximum;
    // Excludes "-0" if 0 is allowed.
    const low: Bound = isWhole && maximum >= 0 ? [1, false] : [Math.max(0, -maximum), isAbove];
    const negative = magnitudes(low, [-minimum, isAboveMinimum], isWhole, steps);
    if (negative.length > 0) options.push(sequence(text("-"), choice(...negative)));
  }
  return options.length === 0 ? undefined : choice(...options);
}

type Bound = readonly [value: number, isExcluded: boolean];

/** Returns numbers from `low`, which is not negative, to `high`. `steps` are the allowed decimals; null for any. */
function magnitudes(low: Bound, high: Bound, isWhole: boolean, steps: Grammar | null): Grammar[] {
  const [min, isAbove] = low;
  const isOpen = high[0] > MAX_INTEGER;
  const [max, isBelow]: Bound = isOpen ? [MAX_INTEGER, false] : high;
  const first = Math.ceil(min);
  const last = Math.floor(max);
  const from = first === min && isAbove ? first + 1 : first;
  const to = last === max && isBelow ? last - 1 : last;
  if (isWhole) return from > to ? [] : [integers(from, to)];
  const fraction = steps ?? sequence(text("."), repeat(DIGIT, 1, fractionDigits(max)));
  const options: Grammar[] = [];
  if (from <= last - 1) options.push(sequence(integers(from, last - 1), optional(fraction)));
  if (to === last && from <= last) options.push(text(String(last)));
  if (steps !== null) return options;
  if (from > first && from <= max) {
    options.push(sequence(text(`${first}.`), repeat(DIGIT, 0, EDGE_DECIMALS - 1), NON_ZERO));
  }
  const unit = Math.floor(min);
  if (min > unit || (from > first && from > max))
    options.push(...edgeGrammars(unit, [min - unit, isAbove], [max - unit, isBelow]));
  if (max > last && last >= first) options.push(...edgeGrammars(last, [0, true], [max - last, isBelow]));
  return options;
}

/** Returns `unit` with decimals between the bounds, which are relative to it. */
function edgeGrammars(unit: number, [min, isAbove]: Bound, [max, isBelow]: Bound): Grammar[] {
  const first = Math.ceil(min * EDGE_SCALE) + (isAbove ? 1 : 0);
  const last = Math.min(EDGE_SCALE - 1, Math.floor(max * EDGE_SCALE) - (isBelow ? 1 : 0));
  if (first > last) return [];
  const padded = (value: number): string => String(value).padStart(EDGE_DECIMALS, "0");
  return [sequence(text(`${unit}.`), sameLength(padded(first), padded(last)))];
}

/** Returns the number of decimals at which the number is not rounded up to the next integer. */
function fractionDigits(max: number): number {
  return Math.max(1, MAX_DECIMALS - String(Math.floor(max)).length);
}

/** Returns all integers in a range; `from` is not negative. */
function integers(from: number, to: number): Grammar {
  if (from <= 1 && to === MAX_INTEGER) {
    const positive = sequence(NON_ZERO, repeat(DIGIT, 0, String(to).length - 1));
    return from === 0 ? choice(text("0"), positive) : positive;
  }
  const options: Grammar[] = [];
  for (let low = from; low <= to;) {
    const high = Math.min(to, 10 ** String(low).length - 1);
    options.push(sameLength(String(low), String(high)));
    low = high + 1;
  }
  return choice(...options);
}

/** Returns digit strings between two strings of the same length. */
function sameLength(low: string, high: string): Grammar {
  if (low === high) return text(low);
  const size = low.length;
  if (/^0*$/.test(low) && /^9*$/.test(high)) return repeat(DIGIT, size, size);
  const [a, b] = [Number(low[0]), Number(high[0])];
  const [restLow, restHigh] = [low.slice(1), high.slice(1)];
  if (a === b) return sequence(text(String(a)), sameLength(restLow, restHigh));
  if (/^0*$/.test(restLow) && /^9*$/.test(restHigh)) return leading(a, b, size - 1);
  const options = [sequence(text(String(a)), sameLength(restLow, "9".repeat(size - 1)))];
  if (b - a > 1) options.push(leading(a + 1, b - 1, size - 1));
  options.push(sequence(text(String(b)), sameLength("0".repeat(size - 1), restHigh)));
  return choice(...options);
}

function leading(first: number, last: number, others: number): Grammar {
  const digit: Grammar = { kind: "chars", ranges: [[0x30 + first, 0x30 + last]] };
  return others === 0 ? digit : sequence(digit, repeat(DIGIT, others, others));
}

/** Returns undefined if there are too many. */
function listMultiples(bounds: NumberBounds, step: number): number[] | undefined {
  const { minimum, maximum, isAboveMinimum, isBelowMaximum, isInteger } = bounds;
  const first = Math.ceil(minimum / step);
  const last = Math.floor(maximum / step);
  if (!(last - first < MAX_LISTED)) return undefined;
  const all = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => rounded((first + index) * step));
  return all.filter(
    (value) =>
      (isAboveMinimum ? value > minimum : value >= minimum) &&
      (isBelowMaximum ? value < maximum : value <= maximum) &&
      (!isInteger || Number.isInteger(value)) &&
      !String(value).includes("e"),
  );
}

/** Removes the last digits, which are rounding errors of doubles. */
function rounded(value: number): number {
  return Number(value.toPrecision(12)) + 0;
}

/**
 * Returns the decimals of multiples of 0.1, 0.01, 0.5, 0.25 and similar steps. Returns null for other steps, whose
 * multiples are left to the validation of the output.
 */
function fractionOf(step: number): Grammar | null {
  const perUnit = Math.round(1 / step);
  if (perUnit < 2 || Math.abs(perUnit * step - 1) > 1e-12) return null;
  if (/^10+$/.test(String(perUnit))) return sequence(text("."), repeat(DIGIT, 1, String(perUnit).length - 1));
  if (perUnit > MAX_FRACTIONS) return null;
  const all = Array.from({ length: perUnit }, (_, index) => String(rounded(index * step)).replace(/^0\.?/, "."));
  return all.every((each) => each.length <= 1 + EDGE_DECIMALS)
    ? choice(...all.map((each) => text(each === "." ? ".0" : each)))
    : null;
}
