import { describe, expect, it } from "vitest";
import { checkBudgets } from "../../../coordinator/checks/check-budget.ts";
import { ManualClock } from "../../support/manual-clock.ts";

describe("checkBudgets()", () => {
  it("refuses an account that has used 5 s until a fifth of the passed time makes up for it", () => {
    const clock = new ManualClock();
    const budgets = checkBudgets(clock);
    budgets.add("a", 5_000);
    expect(() => budgets.assertLeft("a")).not.toThrow();
    budgets.add("a", 1_000);
    expect(() => budgets.assertLeft("a")).toThrow(expect.objectContaining({ limit: "check_time", retryAfterS: 5 }));
    expect(() => budgets.assertLeft("b")).not.toThrow();
    clock.advance(5_000);
    expect(() => budgets.assertLeft("a")).not.toThrow();
    clock.advance(25_000);
    expect(budgets.usedMs("a")).toBe(0);
  });
});
