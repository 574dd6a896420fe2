import { describe, expect, it } from "vitest";
import { agreeingReaders, decide, lyingReader } from "../../../coordinator/audits/verdicts.ts";
import type { Likeness } from "../../../coordinator/checks/likeness.ts";
import { NO_EVIDENCE, type Verdict } from "../../../coordinator/credits/standing.ts";

/** Returns judgements of repeats: each letter is the result of a reader, and the answer is "a". */
function repeats(letters: string) {
  const results = letters.split("");
  const compare = (one: string, other: string): Likeness => {
    if (one === "?" || other === "?") return "unsure";
    return one === other ? "same" : "different";
  };
  const verdicts: Record<Likeness, Verdict> = { same: "consistent", unsure: "unclear", different: "inconsistent" };
  return results.map((result, at) => ({
    reading: {
      jobId: `job_${at}`,
      ownerAccountId: `reader_${at}`,
      verdict: verdicts[compare("a", result)],
      surprise: null,
    },
    evidence: NO_EVIDENCE,
    likeness: results.slice(0, at).map((other) => compare(result, other)),
  }));
}

describe("decide", () => {
  it.each<[string, Verdict | null]>([
    ["", null],
    ["a", "consistent"],
    ["b", null],
    ["?", "unclear"],
    ["??", "unclear"],
    ["a?", "consistent"],
    ["bb", "inconsistent"],
    ["bc", null],
    ["ba", null],
    ["baa", "consistent"],
    ["bab", "inconsistent"],
    ["bcc", "inconsistent"],
    ["bcd", null],
    ["bca", null],
  ])("judges the results %j of readers as %j", (results, verdict) => {
    expect(decide(repeats(results), false)).toBe(verdict);
  });

  it("asks a second reader although the first one is content, for some audits", () => {
    expect(decide(repeats("a"), true)).toBeNull();
    expect(decide(repeats("aa"), true)).toBe("consistent");
    expect(decide(repeats("?"), true)).toBeNull();
    expect(decide(repeats("a?"), true)).toBeNull();
  });

  it("asks a second reader if the first one raises doubt without certainty", () => {
    const doubtful = repeats("?").map((each) => ({ ...each, evidence: { suspicion: 10, support: 0 } }));
    expect(decide(doubtful, false)).toBeNull();
  });

  it("asks a third reader if the readings of two are unclear and different", () => {
    const judged = repeats("??").map((each) => ({ ...each, likeness: each.likeness.map(() => "different" as const) }));
    expect(decide(judged, false)).toBeNull();
  });
});

it("agreeingReaders() returns the readers that have the result of another one", () => {
  const judged = repeats("aba?");
  expect(agreeingReaders(judged)).toEqual([judged[0], judged[2]]);
});

it.each([
  ["b", undefined],
  ["ba", undefined],
  ["baa", 0],
  ["aba", 1],
  ["bab", 1],
  ["bcd", undefined],
  ["b?a", undefined],
])("lyingReader() finds the reader of %j that two others contradict", (results, at) => {
  const judged = repeats(results);
  expect(lyingReader(judged)).toBe(at === undefined ? undefined : judged[at]);
});
