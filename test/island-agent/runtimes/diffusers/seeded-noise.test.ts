import { describe, expect, it } from "vitest";
import { philox, type Words2, type Words4 } from "../../../../island-agent/runtimes/diffusers/philox.ts";
import { normalQuantile, seededNoise } from "../../../../island-agent/runtimes/diffusers/seeded-noise.ts";

const ONES = 0xffff_ffff;

describe("philox()", () => {
  // Test vectors of the authors: Random123, kat_vectors, philox4x32 with 10 rounds.
  it.each<[Words4, Words2, string]>([
    [[0, 0, 0, 0], [0, 0], "6627e8d5 e169c58d bc57ac4c 9b00dbd8"],
    [[ONES, ONES, ONES, ONES], [ONES, ONES], "408f276d 41c83b0e a20bc7c6 6d5451fd"],
    [[0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0], "d16cfe09 94fdcceb 5001e420 24126ea1"],
  ])("matches the published vector for counter %j and key %j", (counter, key, expected) => {
    expect(
      philox(counter, key)
        .map((word) => word.toString(16).padStart(8, "0"))
        .join(" "),
    ).toBe(expected);
  });
});

describe("normalQuantile()", () => {
  // The values come from tables of the normal distribution.
  it.each([
    [0.5, 0],
    [0.75, 0.67448975],
    [0.9, 1.28155157],
    [0.975, 1.95996398],
    [0.999, 3.09023231],
    [1e-6, -4.75342431],
    [1e-12, -7.03448383],
  ])("maps %d to %d", (p, expected) => {
    expect(normalQuantile(p)).toBeCloseTo(expected, 5);
  });
});

describe("seededNoise()", () => {
  it("is normally distributed", () => {
    const noise = [...seededNoise(42, 0, 40_000)].sort((a, b) => a - b);
    const mean = noise.reduce((sum, x) => sum + x) / noise.length;
    expect(mean).toBeCloseTo(0, 1);
    expect(noise.reduce((sum, x) => sum + (x - mean) ** 2, 0) / noise.length).toBeCloseTo(1, 1);
    // A normal number is below 1 with a probability of 0.8413.
    expect(noise.filter((x) => x < 1).length / noise.length).toBeCloseTo(0.841, 2);
  });

  it("returns the quantile of the documented word", () => {
    // Word 0 of counter 0 and key 0 above.
    const p = (0x6627e8d5 + 0.5) / 2 ** 32;
    expect(seededNoise(0, 0, 1)[0]).toBe(Math.fround(normalQuantile(p)));
    expect(p).toBeCloseTo(0.39905, 5);
    expect(seededNoise(0, 0, 1)[0]).toBeCloseTo(-0.2558, 3);
  });

  it("starts with the same numbers for any length", () => {
    expect([...seededNoise(7, 3, 9).slice(0, 5)]).toEqual([...seededNoise(7, 3, 5)]);
  });

  it.each([
    ["seed", 8, 3],
    ["upper half of the seed", 7 + 2 ** 32, 3],
    ["draw", 7, 4],
  ])("changes with another %s", (_, seed, draw) => {
    expect(seededNoise(seed, draw, 1)[0]).not.toBe(seededNoise(7, 3, 1)[0]);
  });
});
