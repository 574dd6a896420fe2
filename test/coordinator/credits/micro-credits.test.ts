import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { creditsFromMicro, formatCredits, microFromCredits } from "../../../coordinator/credits/micro-credits.ts";

describe("microFromCredits() and creditsFromMicro()", () => {
  it("are exact in both directions", () => {
    expect(microFromCredits(0.1)).toBe(100_000);
    expect(microFromCredits(10_000)).toBe(10_000_000_000);
    expect(creditsFromMicro(1)).toBe(0.000_001);
    fc.assert(
      fc.property(fc.nat(4_000_000_000_000_000), (micro) => microFromCredits(creditsFromMicro(micro)) === micro),
    );
  });

  it("refuse invalid amounts", () => {
    for (const credits of [-1, -0.000_001, Number.NaN, Infinity, 0.000_000_1, 1.234_567_8, 4_000_000_001]) {
      expect(() => microFromCredits(credits), String(credits)).toThrow(RangeError);
    }
    for (const micro of [-1, 0.5, Number.NaN, Infinity]) {
      expect(() => creditsFromMicro(micro), String(micro)).toThrow(RangeError);
    }
  });
});

describe("formatCredits()", () => {
  it.each([
    [0, "0"],
    [1, "0.000001"],
    [900_000, "0.9"],
    [1_000_000, "1"],
    [12_345_678, "12.345678"],
    [10_000_000_000, "10000"],
  ])("formats %i micro-credits as %s", (micro, text) => {
    expect(formatCredits(micro)).toBe(text);
  });
});
