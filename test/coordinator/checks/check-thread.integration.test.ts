import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkBudgets } from "../../../coordinator/checks/check-budget.ts";
import { CheckStopped, ChecksClosed, openCheckThread } from "../../../coordinator/checks/check-thread.ts";
import { systemClock } from "../../../shared/clock.ts";

let thread: ReturnType<typeof openCheckThread>;
let budgets: ReturnType<typeof checkBudgets>;

beforeEach(() => {
  budgets = checkBudgets(systemClock);
  thread = openCheckThread(systemClock, budgets, 1_500);
});
afterEach(() => thread.close());

const check = (accountId: string, text = "b", pattern = "^b$") =>
  thread.run(accountId, "output", { schema: { type: "string", pattern }, text, json: "" });
/** A check that never ends. No rule of input schemas allows its pattern. */
const endless = (accountId: string) => check(accountId, "a".repeat(60), "^(a+)+$b");

describe("openCheckThread()", () => {
  it("ends a check at its limit, charges it, and runs the next ones in another thread", async () => {
    const checks = [endless("a"), check("a"), check("b", "c")];
    await expect(checks[0]).rejects.toThrow(CheckStopped);
    expect(budgets.usedMs("a")).toBeGreaterThan(1_000);
    expect(await Promise.all(checks.slice(1))).toEqual([true, false]);
  });

  it("runs a check of the account that has used the least time next", async () => {
    const order: string[] = [];
    const run = async (accountId: string, name: string): Promise<void> => {
      await check(accountId);
      order.push(name);
    };
    const stopped = expect(endless("a")).rejects.toThrow(CheckStopped);
    await Promise.all([stopped, run("a", "a1"), run("a", "a2"), run("b", "b1"), run("c", "c1")]);
    expect(order.slice(0, 2).toSorted()).toEqual(["b1", "c1"]);
  });

  it("reports the error of a check, and runs the next", async () => {
    const broken = thread.run("a", "output", { schema: { type: "text" }, text: "b", json: "" });
    await expect(broken).rejects.toThrow(/A check failed: .*type/s);
    expect(await check("a")).toBe(true);
  });

  it("rejects all checks when it closes, and later ones", async () => {
    const checks = [endless("a"), check("a"), check("b")].map((each) => expect(each).rejects.toThrow(ChecksClosed));
    await thread.close();
    await Promise.all(checks);
    await expect(check("a")).rejects.toThrow(ChecksClosed);
  });
});
