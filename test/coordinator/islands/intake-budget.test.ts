import { describe, expect, it } from "vitest";
import { intakeBudget } from "../../../coordinator/islands/intake-budget.ts";

const KIB = 1_024;
const LARGE = 65 * KIB;
const SMALL = 64 * KIB;

describe("what Islands sent and storage has not taken", () => {
  it("holds back the one that sent more than its part", () => {
    const intake = intakeBudget({ intakeMemoryBytes: 1_000 * KIB, islandIntakeBytes: 100 * KIB });
    expect(intake.hasCapacity(100 * KIB, LARGE)).toBe(true);
    expect(intake.hasCapacity(100 * KIB + 1, SMALL)).toBe(false);
  });

  it("holds back large frames and no small ones when it is too much in all, until half of it is free", () => {
    const intake = intakeBudget({ intakeMemoryBytes: 1_000, islandIntakeBytes: 100 * KIB });
    let woken = 0;
    const stopWaiting = intake.onCapacity(() => (woken += 1));
    intake.add(1_001);
    expect(intake.hasCapacity(0, LARGE)).toBe(false);
    expect(intake.hasCapacity(0, SMALL)).toBe(true);
    intake.remove(500);
    expect(woken).toBe(0);
    intake.remove(1);
    expect(woken).toBe(1);
    expect(intake.hasCapacity(0, LARGE)).toBe(true);
    stopWaiting();
    intake.remove(500);
    expect(woken).toBe(1);
  });
});
