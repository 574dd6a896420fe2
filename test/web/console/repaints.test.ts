import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Repaints } from "../../../web/src/components/repaints.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

it("Repaints paints at once, then at intervals, and always after the last piece", () => {
  let painted = 0;
  const repaints = new Repaints(() => (painted += 1));
  for (let piece = 0; piece < 100; piece += 1) repaints.schedule(10);
  expect(painted).toBe(1);
  vi.advanceTimersByTime(40);
  expect(painted).toBe(2);
  repaints.schedule(400_000);
  vi.advanceTimersByTime(100);
  expect(painted).toBe(2);
  vi.advanceTimersByTime(400);
  expect(painted).toBe(3);
});

it("Repaints does not paint after it is cancelled", () => {
  let painted = 0;
  const repaints = new Repaints(() => (painted += 1));
  repaints.schedule(1);
  repaints.schedule(1);
  repaints.cancel();
  vi.advanceTimersByTime(1_000);
  expect(painted).toBe(1);
});
