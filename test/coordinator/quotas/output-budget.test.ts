import { describe, expect, it } from "vitest";
import { OutputBudget } from "../../../coordinator/quotas/output-budget.ts";

const LIMITS = { outputMemoryBytes: 100, accountOutputMemoryBytes: 60, islandOutputMemoryBytes: 80 };

describe("the budget of output in memory", () => {
  it("takes output up to each limit", () => {
    const budget = new OutputBudget(LIMITS);
    expect(budget.fullFor("a", "island", 60)).toBeNull();
    expect(budget.fullFor("a", "island", 61)).toBe("account");
    budget.add("a", "island", 60);
    expect(budget.fullFor("a", "island", 1)).toBe("account");
    expect(budget.fullFor("a", "island", 0)).toBeNull();
    expect(budget.fullFor("b", "island", 20)).toBeNull();
    expect(budget.fullFor("b", "island", 21)).toBe("island");
    expect(budget.fullFor("b", "other", 40)).toBeNull();
  });

  it("used up, stops those above their equal share and nobody else", () => {
    const budget = new OutputBudget(LIMITS);
    budget.add("a", null, 60);
    budget.add("b", null, 40);
    expect(budget.fullFor("b", null, 10)).toBeNull();
    expect(budget.fullFor("b", null, 11)).toBe("coordinator");
    expect(budget.fullFor("c", null, 33)).toBeNull();
    expect(budget.fullFor("c", null, 34)).toBe("coordinator");
  });

  it("has room again for what was given back", () => {
    const budget = new OutputBudget(LIMITS);
    budget.add("a", "island", 60);
    budget.addForIsland("island", -60);
    expect(budget.fullFor("b", "island", 60)).toBe("coordinator");
    budget.add("a", null, -60);
    expect(budget.fullFor("b", "island", 60)).toBeNull();
    expect(budget.fullFor("a", "other", 60)).toBeNull();
  });
});
