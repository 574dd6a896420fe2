import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { demandScore, rankCargos } from "../../coordinator/recommendations/rank.ts";

const demands = fc.uniqueArray(
  fc.record({
    slug: fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/),
    queued: fc.nat(5),
    recentCompletions: fc.nat(20),
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
      { slug: "c", queued: 0, recentCompletions: 5 },
      { slug: "b", queued: 1, recentCompletions: 0 },
      { slug: "a", queued: 0, recentCompletions: 0 },
      { slug: "d", queued: 2, recentCompletions: 0 },
    ]);
    expect(ranked.map(({ slug, demandScore: score }) => [slug, score])).toEqual([
      ["d", 20],
      ["b", 10],
      ["c", 10],
      ["a", 0],
    ]);
  });
  it("asks the tie break before the slug", () => {
    const holders: Record<string, number> = { a: 5, b: 1 };
    const equal = ["a", "b"].map((slug) => ({ slug, queued: 0, recentCompletions: 0 }));
    const fewFirst = rankCargos(equal, (x, y) => (holders[x.slug] ?? 0) - (holders[y.slug] ?? 0));
    expect(fewFirst.map(({ slug }) => slug)).toEqual(["b", "a"]);
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
