import { describe, expect, it } from "vitest";
import { LineFit } from "../../../coordinator/scheduler/line-fit.ts";

const START = { base: 50, slope: 10 };

function fitted(points: readonly (readonly [x: number, y: number])[], isGuess = false): LineFit {
  const fit = new LineFit(1);
  for (const [x, y] of points) fit.add(x, y, START, isGuess);
  return fit;
}

describe("LineFit", () => {
  it("keeps the shape of the start after measurements at one x", () => {
    const fit = fitted(Array.from({ length: 10 }, () => [5, 200] as const));
    // The start is 100 at 5, so everything is twice as high.
    expect(fit.at(5)).toBeCloseTo(200);
    expect(fit.at(10)).toBeCloseTo(300);
  });

  it("finds the line of measurements at several x", () => {
    const fit = fitted(Array.from({ length: 40 }, (_, index) => [index % 5, 100 + 30 * (index % 5)] as const));
    expect(fit.at(0)).toBeCloseTo(100, -1);
    expect(fit.at(4)).toBeCloseTo(220, -1);
  });

  it("forgets: after ten measurements of twice the time, two thirds of the difference are learnt", () => {
    const fit = fitted([
      ...Array.from({ length: 20 }, () => [1, 60] as const),
      ...Array.from({ length: 10 }, () => [1, 85] as const),
    ]);
    expect(fit.at(1)).toBeGreaterThan(60 + 0.6 * 25);
  });

  it("refuses two outliers, and believes the third", () => {
    const steady = Array.from({ length: 10 }, (_, index) => [1, 60 + (index % 3)] as const);
    expect(fitted([...steady, [1, 600], [1, 590]]).at(1)).toBeLessThan(65);
    expect(fitted([...steady, [1, 600], [1, 590], [1, 610]]).at(1)).toBeCloseTo(610);
  });

  it("is bounded by a tenth and ten times a start that is known, and takes the level of the first measurement from a guess", () => {
    expect(fitted([[1, 0.001]]).at(1)).toBeCloseTo(6);
    expect(fitted([[1, 1e9]]).at(1)).toBeCloseTo(600);
    expect(fitted([[1, 6_000]], true).at(1)).toBeCloseTo(6_000);
  });

  it("continues from its numbers", () => {
    const fit = fitted([
      [1, 70],
      [3, 90],
      [2, 75],
    ]);
    const restored = new LineFit(1);
    restored.restore(fit.numbers());
    expect(restored.at(4)).toBe(fit.at(4));
    restored.add(2, 80, START, false);
    fit.add(2, 80, START, false);
    expect(restored.numbers()).toEqual(fit.numbers());
  });

  it("never returns a number that is not finite or not positive", () => {
    const fit = new LineFit(1);
    for (const [x, y] of [
      [0, 1e-9],
      [1e9, 1e12],
      [1e9, 1e-9],
      [0, 1e12],
    ] as const) {
      fit.add(x, y, START, true);
      for (const at of [0, 1, 1e9]) {
        expect(fit.at(at)).toBeGreaterThan(0);
        expect(fit.at(at)).toBeLessThan(Infinity);
      }
    }
  });
});
