import type { Likeness } from "../checks/likeness.ts";
import type { Verdict } from "../credits/standing.ts";
import type { Judgement } from "./question.ts";

/** Maximum readers of an answer: two that disagree, and a third that decides. */
export const MAX_READERS = 3;

/**
 * Returns the verdict of the readers so far; null if another one must be asked. Two of them, whose results are alike,
 * must agree that an answer is inconsistent. One is enough if it is content, unless `wantsTwo`. A third reader decides if
 * two content ones have different results.
 */
export function decide(judged: readonly Judgement[], wantsTwo: boolean): Verdict | null {
  const found = (verdict: Verdict) => judged.filter(({ reading }) => reading.verdict === verdict);
  const good = found("consistent").length;
  const bad = found("inconsistent");
  if (judged.length === 1 && good + bad.length === 0) return "unclear";
  const areAlike = (one: Judgement, other: Judgement): boolean => likenessOf(judged, one, other) !== "different";
  if (bad.some((one) => bad.some((other) => one !== other && areAlike(one, other)))) return "inconsistent";
  if (good >= 2) return isDisputed(judged) ? null : "consistent";
  if (good === 1 && bad.length === 0 && !wantsTwo) return "consistent";
  return null;
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

function likenessOf(judged: readonly Judgement[], one: Judgement, other: Judgement): Likeness {
  const [first = 0, last = 0] = [judged.indexOf(one), judged.indexOf(other)].toSorted((a, b) => a - b);
  return judged[last]?.likeness[first] ?? "unsure";
}
