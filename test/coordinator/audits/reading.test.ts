import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkReading, drawPositions, scoreReading } from "../../../coordinator/audits/reading.ts";
import type { ChatReading } from "../../../shared/chat-reading.ts";
import { makeChat, makeReading, sampleToken, seededRandom } from "./made-readings.ts";

const READ = { text: "abc", has_end: true, at: [0, 0.5] };
const HALF = Math.log(0.5);
const TOP: [number, number][] = [
  [7, HALF],
  [8, HALF],
];
const VALID: ChatReading = {
  prompt_tokens: 5,
  tokens: 4,
  positions: [0, 2, 3].map((index) => ({ index, token: 7, logprob: HALF, top: TOP })),
};
const withPosition = (change: object): object => {
  const [first, ...others] = VALID.positions;
  return { ...VALID, positions: [{ ...first, ...change }, ...others] };
};
const FLAT = Array.from({ length: 64 }, (_, token): [number, number] => [token, -5]);

it("drawPositions() draws the first position and others, half of them in the first quarter", () => {
  const random = seededRandom(1);
  const drawn = Array.from({ length: 200 }, () => drawPositions(32, random));
  expect(drawn.every(([first, ...others]) => first === 0 && others.length === 31)).toBe(true);
  const all = drawn.flatMap((each) => each.slice(1));
  expect(all.every((each) => each >= 0 && each < 1)).toBe(true);
  expect(all.filter((each) => each < 0.25).length / all.length).toBeCloseTo(0.5, 1);
});

describe("checkReading()", () => {
  it("returns a valid reading", () => {
    expect(checkReading(VALID, READ)).toEqual(VALID);
    expect(checkReading(withPosition({ token: 9, logprob: -30 }), READ)).not.toHaveProperty("problem");
    expect(checkReading(withPosition({ top: FLAT, logprob: -5 }), READ)).not.toHaveProperty("problem");
    expect(checkReading(withPosition({ token: 99, top: FLAT, logprob: -6 }), READ)).not.toHaveProperty("problem");
  });
  it("returns readings of any honest sampling", () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const reading = makeReading(seededRandom(seed), (weights, random) => sampleToken(weights, makeChat(), random));
        const at = reading.positions.map((_, index) => (index + 0.5) / reading.tokens);
        const read = { text: "a".repeat(reading.tokens), has_end: false, at };
        expect(checkReading(reading, read)).toEqual(reading);
      }),
    );
  });
  it.each([
    ["no object", "a reading", "must|expected|invalid"],
    ["a missing member", { ...VALID, positions: undefined }, "positions"],
    ["more tokens than the text has bytes", { ...VALID, tokens: 6 }, "tokens: must be 1 to 5, got 6"],
    ["no tokens", { ...VALID, tokens: 0 }, "tokens"],
    ["other positions than were requested", { ...VALID, tokens: 5 }, "positions: must be 0,2,4, got 0,2,3"],
    ["a missing position", { ...VALID, positions: VALID.positions.slice(1) }, "positions: must be 0,2,3"],
    ["positions out of order", { ...VALID, positions: VALID.positions.toReversed() }, "positions: must be 0,2,3"],
    ["an infinite log probability", withPosition({ logprob: -Infinity }), "positions.0.logprob"],
    ["a log probability that is not a number", withPosition({ logprob: Number.NaN }), "positions.0.logprob"],
    ["a positive log probability", withPosition({ logprob: 0.1 }), "positions.0.logprob"],
    ["an empty list", withPosition({ top: [] }), "positions.0.top"],
    ["a list that is too long", withPosition({ top: [...FLAT, [64, -5]] }), "positions.0.top"],
    ["a token twice", withPosition({ top: [...TOP.slice(0, 1), [7, HALF]] }), "positions.0: is not"],
    [
      "a list that is not sorted",
      withPosition({
        top: [
          [7, -0.7],
          [8, -0.69],
        ],
      }),
      "positions.0: is not",
    ],
    [
      "probabilities above 1 in total",
      withPosition({
        top: [
          [7, -0.5],
          [8, -0.5],
        ],
        logprob: -0.5,
      }),
      "positions.0: is not",
    ],
    ["a short list without probable tokens", withPosition({ top: [[7, HALF]] }), "positions.0: is not"],
    ["two log probabilities of one token", withPosition({ logprob: -2 }), "positions.0: is not"],
    [
      "an unlisted token above the listed ones",
      withPosition({ token: 9, top: FLAT, logprob: -4 }),
      "positions.0: is not",
    ],
    ["an unlisted token that should be listed", withPosition({ token: 9, logprob: -10 }), "positions.0: is not"],
  ])("refuses %s", (_, output, problem) => {
    expect(checkReading(output, READ)).toEqual({ problem: expect.stringMatching(problem) as string });
  });
  it("refuses any JSON value without throwing", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(checkReading(value, READ)).toHaveProperty("problem");
      }),
    );
  });
});

const SAMPLINGS = [
  { temperature: 0.3 },
  { temperature: 0.8 },
  { temperature: 1, top_k: 0, top_p: 0.9 },
  { temperature: 1.2, top_k: 30, top_p: 1 },
  { temperature: 0.8, top_k: 0, top_p: 1, min_p: 0.05 },
  { temperature: 1, top_k: 0, top_p: 1 },
];

describe("scoreReading()", () => {
  it.each(SAMPLINGS)("gives honest answers a z with mean 0 and variance 1: %j", (sampling) => {
    const chat = makeChat(sampling);
    const random = seededRandom(3);
    const zs = Array.from({ length: 600 }, () => {
      return scoreReading(
        makeReading(random, (weights) => sampleToken(weights, chat, random)),
        chat,
        false,
      ).z;
    });
    const mean = zs.reduce((sum, z) => sum + z, 0) / zs.length;
    const variance = zs.reduce((sum, z) => sum + (z - mean) ** 2, 0) / zs.length;
    // Five standard errors.
    expect(Math.abs(mean)).toBeLessThan(5 / Math.sqrt(zs.length));
    expect(variance).toBeCloseTo(1, 0.6);
  });

  it.each([...SAMPLINGS, { temperature: 0 }])(
    "gives honest answers likelihood ratios of at most 1 on average: %j",
    (sampling) => {
      const chat = makeChat(sampling);
      const random = seededRandom(5);
      const scores = Array.from({ length: 600 }, () => {
        const reading = makeReading(random, (weights) => sampleToken(weights, chat, random), 3);
        return scoreReading(reading, chat, false);
      });
      for (const name of ["falseText", "changedText"] as const) {
        const ratios = scores.map((score) => Math.exp(score[name]));
        expect(ratios.reduce((sum, each) => sum + each, 0) / ratios.length).toBeLessThan(1.1);
      }
    },
  );

  it("tolerates a small margin to the best token at temperature 0", () => {
    const chat = makeChat({ temperature: 0 });
    const scoreOf = (margin: number) => {
      const other = Math.log(1 / (1 + Math.exp(margin)));
      const top: [number, number][] = [
        [1, other + margin],
        [2, other],
      ];
      const positions = Array.from({ length: 8 }, (_, index) => ({ index, token: 2, logprob: other, top }));
      return scoreReading({ prompt_tokens: 5, tokens: 8, positions }, chat, false);
    };
    expect(scoreOf(0.03).falseText).toBeLessThan(1);
    expect(scoreOf(2).falseText).toBeGreaterThan(12);
  });

  it("finds an improbable end more suspicious in a short answer than in a long one", () => {
    const chat = makeChat();
    const top: [number, number][] = [[1, 0]];
    const end = { token: 2, logprob: -12 - 9, top };
    const endAt = (tokens: number) =>
      scoreReading({ prompt_tokens: 5, tokens, positions: [{ index: tokens - 1, ...end }] }, chat, true).falseText;
    expect(endAt(2)).toBeGreaterThan(endAt(200));
    expect(endAt(2)).toBeGreaterThan(12);
  });
});
