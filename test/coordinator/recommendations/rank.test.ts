import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { demandScore, rankCargos } from "../../../coordinator/recommendations/rank.ts";

const demands = fc.uniqueArray(
  fc.record({
    slug: fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/),
    queued: fc.nat(5),
    recentCompletions: fc.nat(20),
    holders: fc.nat(3),
    isDefault: fc.boolean(),
  }),
  { selector: ({ slug }) => slug },
);

describe("demandScore()", () => {
  it("counts a waiting job ten and a recent completion two", () => {
    expect(demandScore({ queued: 3, recentCompletions: 4 })).toBe(38);
  });
});

describe("rankCargos()", () => {
  it("puts the highest score first, then the slug", () => {
    const ranked = rankCargos([
      { slug: "c", queued: 0, recentCompletions: 5, holders: 0, isDefault: false },
      { slug: "b", queued: 1, recentCompletions: 0, holders: 0, isDefault: false },
      { slug: "a", queued: 0, recentCompletions: 0, holders: 0, isDefault: false },
      { slug: "d", queued: 2, recentCompletions: 0, holders: 0, isDefault: false },
    ]);
    expect(ranked.map(({ slug, demandScore: score }) => [slug, score])).toEqual([
      ["d", 20],
      ["b", 10],
      ["c", 10],
      ["a", 0],
    ]);
  });
  it("puts what fewer Islands hold before what more hold, where the scores are equal and nowhere else", () => {
    const ranked = rankCargos([
      { slug: "a", queued: 0, recentCompletions: 5, holders: 9, isDefault: false },
      { slug: "b", queued: 1, recentCompletions: 0, holders: 2, isDefault: false },
      { slug: "c", queued: 0, recentCompletions: 5, holders: 2, isDefault: false },
      { slug: "d", queued: 0, recentCompletions: 0, holders: 0, isDefault: false },
    ]);
    expect(ranked.map(({ slug }) => slug)).toEqual(["b", "c", "a", "d"]);
  });
  it("gives the same order whatever the order of its input, and never a lower score first", () => {
    fc.assert(
      fc.property(demands, (list) => {
        const ranked = rankCargos(list);
        expect(ranked).toEqual(rankCargos(list.toReversed()));
        for (const [index, cargo] of ranked.slice(1).entries()) {
          expect(ranked[index]?.demandScore).toBeGreaterThanOrEqual(cargo.demandScore);
        }
      }),
    );
  });
});
