import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jobsToSteal } from "../../../../coordinator/cluster/work-shares.ts";
import { soakRounds } from "../../../support/soak-rounds.ts";

interface Load {
  readonly jobs: number;
  readonly pressing: number;
  readonly slots: number;
}

function makeLoad(pressing: number, slots: number): Load {
  return { jobs: pressing, pressing, slots };
}

/** Returns the jobs to take in a network of two coordinators. */
function takes(mine: Load, theirs: Load): number {
  return jobsToSteal(mine, theirs, { pressing: mine.pressing + theirs.pressing, slots: mine.slots + theirs.slots });
}

describe("jobsToSteal()", () => {
  it("takes no jobs without slots, and all jobs from a coordinator without slots", () => {
    expect(takes(makeLoad(0, 0), makeLoad(5, 1))).toBe(0);
    expect(takes(makeLoad(0, 4), makeLoad(5, 0))).toBe(5);
  });

  it("takes jobs whose wait is shorter here", () => {
    expect(takes(makeLoad(0, 10), makeLoad(40, 10))).toBe(18);
    expect(takes(makeLoad(0, 30), makeLoad(40, 10))).toBe(28);
    expect(takes(makeLoad(10, 100), makeLoad(1, 1))).toBe(1);
    expect(takes(makeLoad(1, 1), makeLoad(2, 1))).toBe(0);
  });

  it("takes at most its share of all jobs", () => {
    expect(jobsToSteal(makeLoad(0, 10), makeLoad(90, 0), { pressing: 90, slots: 30 })).toBe(30);
    expect(jobsToSteal(makeLoad(30, 10), makeLoad(60, 0), { pressing: 90, slots: 30 })).toBe(0);
  });

  it("takes few enough jobs that none would be taken back", () => {
    const load = fc.record({ pressing: fc.nat(50), slots: fc.nat(20) });
    const check = fc.property(load, load, (a, b) => {
      const [mine, theirs] = [makeLoad(a.pressing, a.slots), makeLoad(b.pressing, b.slots)];
      const jobs = takes(mine, theirs);
      expect(jobs).toBeLessThanOrEqual(theirs.jobs);
      if (jobs === 0) return;
      expect(takes(makeLoad(theirs.pressing - jobs, theirs.slots), makeLoad(mine.pressing + jobs, mine.slots))).toBe(0);
    });
    fc.assert(check, { numRuns: soakRounds(2_000) });
  });
});
