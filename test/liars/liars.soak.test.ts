import { expect, it } from "vitest";
import { runLiars } from "./run-liars.ts";

it("Half of the Islands lie, and honest clients get right answers or clear errors", async () => {
  const { violations, history, islands } = await runLiars({ seed: 7, minutes: 0.5, leastJobs: 300, renames: true });
  expect(violations).toEqual([]);
  // Without lies and answers it would have shown nothing.
  expect(history.lies.size).toBeGreaterThan(5);
  expect(history.done).toBeGreaterThan(50);
  expect(islands).toHaveLength(10);
}, 240_000);
