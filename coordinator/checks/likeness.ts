import { isDeepStrictEqual } from "node:util";
import { isJsonObject } from "../../shared/json-value.ts";
import { decodePng, PNG_START } from "./png-pixels.ts";

/** What a job returned. */
export interface JobResult {
  readonly output: unknown;
  /** The text of the feed. */
  readonly text: string;
  /** Images of the feed, in base64. */
  readonly images: readonly string[];
}

/** How like two results are. `unsure`: other hardware could explain the difference. */
export const LIKENESSES = ["same", "unsure", "different"] as const;
export type Likeness = (typeof LIKENESSES)[number];

/**
 * Maximum distance of equal vectors and minimum distance of different ones, relative to the longer vector. For vectors
 * of length 1, these are cosine distances of 0.005 and 0.045.
 */
const SAME_DISTANCE = 0.1;
const DIFFERENT_DISTANCE = 0.3;
/** Vectors that are shorter than this are compared as if they had this length, because scores near 0 may differ. */
const MIN_LENGTH = 1;
/** The same limits for images, as the mean absolute difference of their bytes. */
const SAME_BYTES = 4;
const DIFFERENT_BYTES = 16;
/** Rounding cannot make another label the best one if its score is above this. */
const SURE_SCORE = 0.6;
/** Shorter texts are never different, because one other token may change all of their words. */
const MIN_WORDS = 8;
/** Characters at the beginning of a text that are compared. */
const MAX_CHARS = 8_192;
/** Objects of longer lists are compared in their order. */
const MAX_MATCHED = 64;
/** A list may have fewer objects than this more or less than the other, because scores are near a threshold. */
const FEW_OBJECTS = 3;
/**
 * Maximum steps of a comparison: a byte of an image, a number, or a character of a text. A member of an object takes
 * several steps, and a damaged image many.
 */
const MAX_STEPS = 10_000_000;
const STEPS_PER_MEMBER = 8;
const STEPS_PER_IMAGE = 500_000;

class TooCostly extends Error {
  override readonly name = "TooCostly";
}

type Fields = Readonly<Record<string, unknown>>;

interface Comparison {
  /** Receives pairs of images, which are compared last. */
  readonly images: (readonly [string, string])[];
  /** Whether objects of a list are matched. Lists within them are compared in order, which bounds the time. */
  readonly isMatching: boolean;
  /** Adds to the steps of the whole comparison. @throws {TooCostly} */
  readonly spend: (steps: number) => void;
}

/**
 * Compares the results of two runs of a job, of which nothing is trusted. The limits are explained in
 * `docs/internals/repeats.md`.
 * @param isExact whether each difference counts
 */
export function compareResults(a: JobResult, b: JobResult, isExact: boolean): Likeness {
  if (isDeepStrictEqual(a, b)) return "same";
  if (isExact) return "different";
  let left = MAX_STEPS;
  const spend = (steps: number): void => {
    left -= steps;
    if (left < 0) throw new TooCostly();
  };
  try {
    return compareWithin(a, b, { images: [], isMatching: true, spend });
  } catch (error) {
    if (error instanceof TooCostly) return "unsure";
    throw error;
  }
}

function compareWithin(a: JobResult, b: JobResult, comparison: Comparison): Likeness {
  const likeness = worst([
    compareValues(a.output, b.output, comparison),
    compareTexts(a.text, b.text, comparison),
    compareInOrder(a.images, b.images, comparison),
  ]);
  if (likeness === "different") return likeness;
  const compared = comparison.images.map(([one, other]) => compareImages(one, other, comparison));
  return worst([likeness, ...compared]);
}

function worst(found: readonly Likeness[]): Likeness {
  return LIKENESSES.findLast((each) => found.includes(each)) ?? "same";
}

function likenessOf(distance: number, maxSame: number, minDifferent: number): Likeness {
  if (distance <= maxSame) return "same";
  return distance >= minDifferent ? "different" : "unsure";
}

function compareValues(a: unknown, b: unknown, comparison: Comparison): Likeness {
  comparison.spend(1);
  if (typeof a === "string" && typeof b === "string") return compareTexts(a, b, comparison);
  if (typeof a === "number" && typeof b === "number") return compareVectors([a], [b]);
  if (Array.isArray(a) && Array.isArray(b)) return compareLists(a, b, comparison);
  if (isJsonObject(a) && isJsonObject(b)) return compareObjects(a, b, comparison);
  return a === b ? "same" : "different";
}

function compareVectors(a: readonly number[], b: readonly number[]): Likeness {
  if (a.length !== b.length) return "different";
  let [apart, ofA, ofB] = [0, 0, 0];
  for (const [at, one] of a.entries()) {
    const other = b[at] ?? 0;
    apart += (one - other) ** 2;
    ofA += one ** 2;
    ofB += other ** 2;
  }
  const length = Math.sqrt(Math.max(MIN_LENGTH, ofA, ofB));
  return likenessOf(Math.sqrt(apart) / length, SAME_DISTANCE, DIFFERENT_DISTANCE);
}

function compareTexts(a: string, b: string, { images, spend }: Comparison): Likeness {
  if (a === b) return "same";
  const isImage = a.startsWith(PNG_START);
  if (isImage !== b.startsWith(PNG_START)) return "different";
  if (isImage) {
    spend(images.length);
    // The last image of the feed is the output as well.
    if (!images.some(([one, other]) => one === a && other === b)) images.push([a, b]);
    return "same";
  }
  spend(Math.min(MAX_CHARS, Math.max(a.length, b.length)));
  const [words, others] = [wordsOf(a), wordsOf(b)];
  const most = Math.max(words.length, others.length);
  return most >= MIN_WORDS && 2 * countShared(words, others) < most ? "different" : "unsure";
}

function wordsOf(text: string): string[] {
  return text.slice(0, MAX_CHARS).split(/\s+/);
}

/** Returns how many words both texts have, in any order. */
function countShared(words: readonly string[], others: readonly string[]): number {
  const left = new Map<string, number>();
  for (const word of words) left.set(word, (left.get(word) ?? 0) + 1);
  return others.filter((word) => {
    const count = left.get(word) ?? 0;
    left.set(word, count - 1);
    return count > 0;
  }).length;
}

function compareLists(a: readonly unknown[], b: readonly unknown[], comparison: Comparison): Likeness {
  comparison.spend(a.length + b.length);
  if (isNumbers(a) && isNumbers(b)) {
    // Whole numbers may be names, such as the numbers of classes.
    const areNames = a.every(Number.isInteger) && b.every(Number.isInteger) && !isDeepStrictEqual(a, b);
    return worst([compareVectors(a, b), areNames ? "unsure" : "same"]);
  }
  if (isTexts(a) && isTexts(b) && isDeepStrictEqual(a.toSorted(), b.toSorted())) return "same";
  const isMatched = comparison.isMatching && Math.max(a.length, b.length) <= MAX_MATCHED;
  return isMatched && [...a, ...b].some(isJsonObject)
    ? matchObjects(a, b, comparison)
    : compareInOrder(a, b, comparison);
}

const isNumbers = (list: readonly unknown[]): list is number[] => list.every((each) => typeof each === "number");
const isTexts = (list: readonly unknown[]): list is string[] => list.every((each) => typeof each === "string");

function compareInOrder(a: readonly unknown[], b: readonly unknown[], comparison: Comparison): Likeness {
  if (a.length !== b.length) return "different";
  return worst(a.map((each, at) => compareValues(each, b[at], comparison)));
}

/**
 * Compares findings in any order, because those with nearly equal scores may change places. Near a threshold, rounding
 * adds or removes a finding, but it does not replace a certain one.
 */
function matchObjects(a: readonly unknown[], b: readonly unknown[], comparison: Comparison): Likeness {
  const left = [...b];
  const missed: unknown[] = [];
  const matched: Likeness[] = [];
  for (const each of a) {
    const found = left.map((other) => compareValues(each, other, { ...comparison, images: [], isMatching: false }));
    const at = found.includes("same") ? found.indexOf("same") : found.indexOf("unsure");
    if (at === -1) {
      missed.push(each);
      continue;
    }
    matched.push(compareValues(each, left[at], { ...comparison, isMatching: false }));
    left.splice(at, 1);
  }
  const most = Math.max(a.length, b.length);
  const missing = most - matched.length;
  if (missing === 0) return worst(matched);
  const isReplaced = a.length === b.length && [...missed, ...left].some(isCertain);
  const areMost = 2 * missing >= most && (a.length === b.length || missing >= FEW_OBJECTS);
  return isReplaced || areMost ? "different" : "unsure";
}

function isCertain(value: unknown): boolean {
  return isJsonObject(value) && typeof value["score"] === "number" && value["score"] > SURE_SCORE;
}

function compareObjects(a: Fields, b: Fields, comparison: Comparison): Likeness {
  const names = Object.keys(a);
  comparison.spend(STEPS_PER_MEMBER * names.length);
  if (names.length !== Object.keys(b).length || !names.every((name) => Object.hasOwn(b, name))) return "different";
  const isNumeric = (name: string): boolean => typeof a[name] === "number" && typeof b[name] === "number";
  const numeric = names.filter(isNumeric);
  const others = names.filter((name) => !isNumeric(name));
  const numbersOf = (fields: Fields): number[] => numeric.map((name) => fields[name] as number);
  const likeness = worst([
    compareVectors(numbersOf(a), numbersOf(b)),
    ...others.map((name) => compareValues(a[name], b[name], comparison)),
  ]);
  if (!isNumeric("score")) return likeness;
  // A label, or a part of the input, that the model chose by its score.
  const isOtherChoice = others.some((name) => typeof a[name] === "string" && a[name] !== b[name]);
  if (!isOtherChoice) return likeness;
  return isCertain(a) || isCertain(b) ? "different" : "unsure";
}

function compareImages(a: string, b: string, { spend }: Comparison): Likeness {
  if (a === b) return "same";
  spend(STEPS_PER_IMAGE);
  // A pair costs one step for each byte of an image.
  const spendHalf = (bytes: number): void => spend(bytes / 2);
  const one = decodePng(a, spendHalf);
  const other = decodePng(b, spendHalf);
  if (one === null && other === null) return "unsure";
  if (one === null || other === null) return "different";
  const { width, height, channels, bytes } = one;
  if (width !== other.width || height !== other.height || channels !== other.channels) return "different";
  const sum = bytes.reduce((total, byte, at) => total + Math.abs(byte - (other.bytes[at] ?? 0)), 0);
  return likenessOf(sum / bytes.length, SAME_BYTES, DIFFERENT_BYTES);
}
