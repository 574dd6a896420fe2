import { describe, expect, it } from "vitest";
import { addReading, isEvidence, judgeReading, verdictOf } from "../../../coordinator/audits/evidence.ts";
import { type Score, scoreReading } from "../../../coordinator/audits/reading.ts";
import { type Evidence, NO_EVIDENCE } from "../../../coordinator/credits/standing.ts";
import { makeChat, makeReading, sampleToken, seededRandom } from "./made-readings.ts";

const CHAT = makeChat({ temperature: 0.8 });
const score = (falseText: number, changedText = falseText): Score => ({ z: 0, falseText, changedText });
const after = (...scores: readonly Score[]): Evidence => scores.reduce(addReading, NO_EVIDENCE);
const HONEST = score(-20, -1);
const WRONG = score(8);

describe("the evidence of an Island's readings", () => {
  it("is unclear at first, and consistent after an honest answer of usual length", () => {
    expect(verdictOf(NO_EVIDENCE)).toBe("unclear");
    expect(verdictOf(after(HONEST))).toBe("consistent");
  });
  it("is inconsistent after one reading that an honest Island gives once in 100,000", () => {
    expect(verdictOf(after(score(11.6)))).toBe("inconsistent");
    expect(verdictOf(after(score(11.4)))).toBe("unclear");
  });
  it("adds up small suspicions", () => {
    expect(verdictOf(after(WRONG))).toBe("unclear");
    expect(verdictOf(after(WRONG, WRONG))).toBe("inconsistent");
    expect(verdictOf(after(WRONG, HONEST, WRONG))).toBe("inconsistent");
  });
  it("cannot be saved up by honest answers", () => {
    const honest = Array.from({ length: 1_000 }, () => HONEST);
    expect(verdictOf(after(...honest, WRONG, WRONG))).toBe("inconsistent");
  });
  it("becomes consistent again after many honest answers", () => {
    const honest = Array.from({ length: 20 }, () => HONEST);
    expect(verdictOf(after(score(500), ...honest))).toBe("consistent");
    expect(verdictOf(after(score(500), ...honest.slice(0, 5)))).toBe("inconsistent");
  });

  it("exceeds a suspicion of ln(x) in at most one of x honest readings", () => {
    const random = seededRandom(11);
    const suspicions = Array.from({ length: 2_000 }, () => {
      const reading = makeReading(random, (weights) => sampleToken(weights, CHAT, random), 4);
      return addReading(NO_EVIDENCE, scoreReading(reading, CHAT, false)).suspicion;
    });
    for (const x of [10, 100]) {
      const above = suspicions.filter((each) => each >= Math.log(x)).length;
      expect(above / suspicions.length).toBeLessThan(1.5 / x);
    }
  });
  it("is never inconsistent in 2,000 honest readings, and is consistent after most of them", () => {
    const random = seededRandom(13);
    let evidence = NO_EVIDENCE;
    const verdicts = Array.from({ length: 2_000 }, () => {
      const reading = makeReading(random, (weights) => sampleToken(weights, CHAT, random));
      evidence = addReading(evidence, scoreReading(reading, CHAT, false));
      return verdictOf(evidence);
    });
    expect(verdicts).not.toContain("inconsistent");
    expect(verdicts.filter((each) => each === "consistent").length).toBeGreaterThan(1_900);
  });
  it("is inconsistent after an answer of any tokens", () => {
    const random = seededRandom(17);
    const reading = makeReading(random, (weights) => weights[Math.floor(random() * weights.length)]?.[0] ?? 0);
    expect(verdictOf(after(scoreReading(reading, CHAT, false)))).toBe("inconsistent");
  });
});

describe("judgeReading()", () => {
  it.each([
    ["a JSON format", { response_format: { type: "json_object" as const } }],
    ["tools", { tools: [{ type: "function" as const, function: { name: "tide" } }] }],
    ["a penalty", { repeat_penalty: 1.1 }],
    ["a bias", { logit_bias: { "5": 3 } }],
  ])("never finds an answer with %s inconsistent, and does not count it", (_, input) => {
    const chat = makeChat(input);
    expect(judgeReading(score(500), chat)).toBe("unclear");
    expect(judgeReading(HONEST, chat)).toBe("consistent");
    expect(isEvidence(chat)).toBe(false);
  });
  it("needs more evidence for a chat with a seed, and does not count it", () => {
    const chat = makeChat({ seed: 3 });
    expect([judgeReading(score(20), chat), judgeReading(score(30), chat)]).toEqual(["unclear", "inconsistent"]);
    expect(isEvidence(chat)).toBe(false);
    expect(isEvidence(makeChat({ seed: 3, temperature: 0 }))).toBe(true);
  });
  it("finds other answers consistent or inconsistent, and counts them", () => {
    expect([judgeReading(HONEST, CHAT), judgeReading(score(12), CHAT), judgeReading(score(0), CHAT)]).toEqual([
      "consistent",
      "inconsistent",
      "unclear",
    ]);
    expect(isEvidence(CHAT)).toBe(true);
  });
});
