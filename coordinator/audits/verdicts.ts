import type { Likeness } from "../checks/likeness.ts";
import type { Verdict } from "../credits/standing.ts";
import { isDoubtful } from "./evidence.ts";
import type { Judgement } from "./question.ts";

/** Maximum readers of an answer: two that disagree, and a third that decides. */
export const MAX_READERS = 3;

/**
 * Returns the verdict of the readers so far; null if another one must be asked. Two of them, whose results are alike,
 * must agree that an answer is inconsistent. One is enough for another verdict, unless `wantsTwo` or its reading raises
 * doubt: otherwise a reader could harm an owner without being compared. A third reader decides if two with the same
 * verdict have different results.
 */
export function decide(judged: readonly Judgement[], wantsTwo: boolean): Verdict | null {
  const found = (verdict: Verdict) => judged.filter(({ reading }) => reading.verdict === verdict);
  const good = found("consistent");
  const bad = found("inconsistent");
  const areAlike = (one: Judgement, other: Judgement): boolean => likenessOf(judged, one, other) !== "different";
  if (bad.some((one) => bad.some((other) => one !== other && areAlike(one, other)))) return "inconsistent";
  if (good.length >= 2) return isDisputed(judged) ? null : "consistent";
  if (judged.length === 2 && good.length + bad.length === 0) return isDisputed(judged) ? null : "unclear";
  if (bad.length > 0 || wantsTwo) return null;
  if (good.length === 1) return "consistent";
  const isOne = judged.length === 1 && judged.every(({ evidence }) => !isDoubtful(evidence));
  return isOne ? "unclear" : null;
}

function isDisputed(judged: readonly Judgement[]): boolean {
  const [first, second] = judged;
  if (judged.length !== 2 || first === undefined || second === undefined) return false;
  return likenessOf(judged, first, second) === "different";
}

/** Returns the reader whose result differs from those of two others, which are the same; undefined if none does. */
export function lyingReader(judged: readonly Judgement[]): Judgement | undefined {
  if (judged.length < MAX_READERS) return undefined;
  return judged.find((each) => {
    const [first, second] = judged.filter((other) => other !== each);
    if (first === undefined || second === undefined) return false;
    const isApart = (other: Judgement): boolean => likenessOf(judged, each, other) === "different";
    return isApart(first) && isApart(second) && likenessOf(judged, first, second) === "same";
  });
}

/** Returns the readers whose result is the same as that of another one. */
export function agreeingReaders(judged: readonly Judgement[]): Judgement[] {
  return judged.filter((one) => judged.some((other) => one !== other && likenessOf(judged, one, other) === "same"));
}

function likenessOf(judged: readonly Judgement[], one: Judgement, other: Judgement): Likeness {
  const [first = 0, last = 0] = [judged.indexOf(one), judged.indexOf(other)].toSorted((a, b) => a - b);
  return judged[last]?.likeness[first] ?? "unsure";
}
