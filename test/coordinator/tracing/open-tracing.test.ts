import { expect, it } from "vitest";
import { logTraceFaults } from "../../../coordinator/tracing/open-tracing.ts";
import { ManualClock } from "../../support/manual-clock.ts";

it("logTraceFaults() logs an unreachable collector once a minute, with the error message", () => {
  const clock = new ManualClock();
  const lines: object[] = [];
  const note = logTraceFaults({ warn: (facts) => void lines.push(facts) }, clock);
  const error = JSON.stringify({ stack: "Error: no\n  at x", message: "connect ECONNREFUSED", name: "Error" });
  for (let nth = 0; nth < 25; nth += 1) {
    note(error);
    clock.advance(5_000);
  }
  note(`Dropped ${"9".repeat(1_000)}`);
  clock.advance(60_000);
  note(`Dropped ${"9".repeat(1_000)}`);
  expect(lines.slice(0, 3)).toEqual([
    { reason: "connect ECONNREFUSED", suppressed: 0 },
    { reason: "connect ECONNREFUSED", suppressed: 11 },
    { reason: "connect ECONNREFUSED", suppressed: 11 },
  ]);
  expect(lines).toHaveLength(4);
  expect(JSON.stringify(lines[3]).length).toBeLessThan(350);
});
