import { expect, it } from "vitest";
import { DailyOutput } from "../../../coordinator/quotas/daily-output.ts";
import { ManualClock } from "../../support/manual-clock.ts";

it("takes a day's output of each account, and more as time passes", () => {
  const clock = new ManualClock();
  const output = new DailyOutput(clock, 1_000);
  expect([output.take("a", 600), output.take("a", 400), output.take("a", 1)]).toEqual([true, true, false]);
  expect(output.take("b", 1_000)).toBe(true);
  clock.advance(43_200_000);
  expect([output.take("a", 499), output.take("a", 1)]).toEqual([true, false]);
});
