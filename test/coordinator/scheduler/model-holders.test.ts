import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recountModels, Scheduler } from "../../../coordinator/scheduler/scheduler.ts";
import { makeIsland, SCHEDULER_RULES, START_MS } from "./builders.ts";

const KEYS = ["k1", "k2", "k3"];
const ISLANDS = ["a", "b", "c"];
const change = fc.record({
  islandId: fc.constantFrom(...ISLANDS),
  /** Null if the Island leaves. */
  keys: fc.option(fc.array(fc.constantFrom(...KEYS), { maxLength: 4 })),
});

describe("holdersOf()", () => {
  it("counts the online Islands that have a model, except the asking one, after any events", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const scheduler = new Scheduler(() => undefined, ...SCHEDULER_RULES);
        const online = new Map<string, readonly string[]>();
        for (const { islandId, keys } of changes) {
          const island = makeIsland({ id: islandId, cachedModels: keys ?? [] });
          if (keys === null) scheduler.step({ kind: "island_down", islandId }, START_MS);
          else if (online.has(islandId)) scheduler.step({ kind: "island_changed", island }, START_MS);
          else scheduler.step({ kind: "island_up", island, busy: 0 }, START_MS);
          if (keys === null) online.delete(islandId);
          else online.set(islandId, keys);
        }
        for (const asking of [...ISLANDS, "somebody else"]) {
          const counted = KEYS.map(scheduler.holdersOf(asking));
          const others = [...online].filter(([id]) => id !== asking);
          expect(counted).toEqual(KEYS.map((key) => others.filter(([, keys]) => keys.includes(key)).length));
        }
      }),
    );
  });

  it("counts an Island once if it comes up twice", () => {
    const scheduler = new Scheduler(() => undefined, ...SCHEDULER_RULES);
    const island = makeIsland({ cachedModels: ["k1"] });
    scheduler.step({ kind: "island_up", island, busy: 0 }, START_MS);
    scheduler.step({ kind: "island_up", island, busy: 0 }, START_MS);
    expect(scheduler.holdersOf("other")("k1")).toBe(1);
  });
});

describe("recountModels()", () => {
  it("drops a model without holders", () => {
    const holders = new Map<string, number>();
    recountModels(holders, [], ["a", "b", "b"]);
    recountModels(holders, ["a", "b", "b"], ["b"]);
    expect([...holders]).toEqual([["b", 1]]);
    recountModels(holders, ["b"], []);
    expect(holders.size).toBe(0);
  });
});
