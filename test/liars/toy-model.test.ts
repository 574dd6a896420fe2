import { describe, expect, it } from "vitest";
import { addReading, judgeReading, verdictOf } from "../../coordinator/audits/evidence.ts";
import { checkReading, drawPositions, type Score, scoreReading } from "../../coordinator/audits/reading.ts";
import { NO_EVIDENCE } from "../../coordinator/credits/standing.ts";
import { makeChat, seededRandom } from "../coordinator/audits/made-readings.ts";
import { type Lie, LIES } from "../support/toy-model/false-answers.ts";
import { meanEntropy, readAnswer, VOCABULARY, write } from "../support/toy-model/toy-model.ts";

const ANSWERS = 300;
/** Standard error of a share of 120 answers, at most. */
const TOLERANCE = 0.046;
const CHAT = makeChat({ temperature: 0.8 });

/** Returns the scores of answers, read at 24 positions. A lie that would be the honest answer is left out. */
function scoresOf(lie: Lie | null): Score[] {
  const random = seededRandom(5);
  return Array.from({ length: ANSWERS }, (_, nth) => {
    const prompt = `Tell me about the ${VOCABULARY[60 + nth] ?? ""} in story ${nth}`;
    const honest = (text: string) => write(text, CHAT, 100, random);
    const asked = { prompt, sampling: CHAT, maxTokens: 100, random, otherAnswer: honest("Another prompt") };
    const written = lie === null ? honest(prompt) : lie(asked);
    if (written === null) return [];
    const read = { text: written.text, has_end: written.hasEnd, at: drawPositions(24, random) };
    const reading = checkReading(readAnswer(prompt, read), read);
    if ("problem" in reading) throw new Error(reading.problem);
    return [scoreReading(reading, CHAT, read.has_end)];
  }).flat();
}

const foundShare = (scores: readonly Score[]): number =>
  scores.filter((score) => judgeReading(score, CHAT) === "inconsistent").length / scores.length;

describe("the toy model", () => {
  it("has distributions that are about as certain as a real model's", () => {
    expect(meanEntropy()).toBeGreaterThan(0.5);
    expect(meanEntropy()).toBeLessThan(2);
  });

  it("has honest answers that no reading finds inconsistent", () => {
    expect(foundShare(scoresOf(null))).toBe(0);
  });

  // The shares of the demo model are those of docs/internals/audits.md, from 120 answers.
  it.each([
    ["one character", 1],
    ["two tokens", 1],
    ["first three words", 0.88],
    ["canned text", 1],
    ["echo of the prompt", 1],
    ["random words", 1],
    ["replay of another answer", 0.57],
    ["a wrong number", 0.28],
  ] as const)("shows %s in one reading about as often as the demo model, or less often", (lie, ofDemoModel) => {
    const share = foundShare(scoresOf(LIES[lie]));
    expect(share).toBeLessThanOrEqual(ofDemoModel + TOLERANCE);
    expect(share).toBeGreaterThan(0);
  });

  it("gives Islands evidence that adds up", () => {
    let evidence = NO_EVIDENCE;
    for (const score of scoresOf(LIES["replay of another answer"]).slice(0, 10)) evidence = addReading(evidence, score);
    expect(verdictOf(evidence)).toBe("inconsistent");
  });
});
