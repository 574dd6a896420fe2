import { expect, it } from "vitest";
import { dailyStorage } from "../../../coordinator/quotas/daily-storage.ts";
import { ManualClock } from "../../support/manual-clock.ts";

it("dailyStorage() admits a day's storage of each account, and more as time passes, without counting refused bytes", () => {
  const clock = new ManualClock();
  const storage = dailyStorage(clock, 86_400);
  expect([storage.take("a", 60_000), storage.take("a", 26_400), storage.take("a", 10)]).toEqual([0, 0, 10_000]);
  expect([storage.take("a", 86_400), storage.take("b", 86_400)]).toEqual([86_400_000, 0]);
  clock.advance(10_000);
  expect([storage.take("a", 10), storage.take("a", 1)]).toEqual([0, 1_000]);
});
