import { describe, expect, it } from "vitest";
import { attemptsOf, mayRetry } from "../../../../coordinator/jobs/attempts/retry-policy.ts";

type Job = Parameters<typeof mayRetry>[0];

const job = (attempt: number, refusals = 0, hasOutput = false, canContinue = false): Job => ({
  attempt,
  refusals,
  feed: { hasOutput } as Job["feed"],
  traits: { canContinue } as Job["traits"],
});

describe("mayRetry()", () => {
  it("allows attempts up to the maximum", () => {
    expect([1, 2, 3, 4].map((attempt) => mayRetry(job(attempt), 3))).toEqual([true, true, false, false]);
    expect(mayRetry(job(1), 1)).toBe(false);
  });

  it("does not count refused assignments", () => {
    expect(attemptsOf(job(5, 3))).toBe(2);
    expect(mayRetry(job(5, 3), 3)).toBe(true);
    expect(mayRetry(job(5, 2), 3)).toBe(false);
  });

  it("allows another attempt after output only if an Island can continue it", () => {
    expect(mayRetry(job(1, 0, true, true), 3)).toBe(true);
    expect(mayRetry(job(1, 0, true, false), 3)).toBe(false);
    expect(mayRetry({ ...job(1, 0, true), traits: null }, 3)).toBe(false);
  });

  it("allows another attempt before output, whether or not output could be continued", () => {
    expect(mayRetry({ ...job(1), traits: null }, 3)).toBe(true);
    expect(mayRetry(job(1, 0, false, true), 3)).toBe(true);
  });

  it("refuses another attempt after the maximum, even for output that can be continued", () => {
    expect(mayRetry(job(3, 0, true, true), 3)).toBe(false);
  });
});
