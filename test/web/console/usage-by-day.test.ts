import { expect, it } from "vitest";
import { usageByDay } from "../../../web/src/pages/client/usage/usage-by-day.ts";

const line = (kind: "spent" | "earned", day: string, credits: number) => ({
  ...{ kind, day, credits, jobs: 1, prompt_tokens: 0, completion_tokens: 0 },
  ...{ workload_slug: null, api_key_id: null },
});

it("usageByDay sums the lines of every day in the period", () => {
  const nowMs = Date.UTC(2026, 2, 1, 23, 59);
  const lines = [line("spent", "2026-03-01", 2), line("spent", "2026-02-27", 1), line("spent", "2026-02-27", 0.5)];
  const usage = usageByDay([...lines, line("earned", "2026-02-28", 9), line("spent", "2026-01-01", 7)], nowMs, 3);
  expect(usage).toEqual({
    at: [27, 28, 29].map((day) => Date.UTC(2026, 1, day) / 1_000),
    spent: [1.5, 0, 2],
    earned: [0, 9, 0],
  });
});
