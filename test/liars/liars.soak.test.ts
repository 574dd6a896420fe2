import { expect, it } from "vitest";
import { runLiars } from "./run-liars.ts";

it("if half of the Islands lie, honest clients get correct results or clear errors", async () => {
  const { violations, history, islands } = await runLiars({ seed: 7, minutes: 0.5, leastJobs: 300, renames: true });
  expect(violations).toEqual([]);
  // The run must contain lies and completed jobs.
  expect(history.lies.size).toBeGreaterThan(5);
  expect(history.done).toBeGreaterThan(50);
  expect(islands).toHaveLength(10);
}, 240_000);
