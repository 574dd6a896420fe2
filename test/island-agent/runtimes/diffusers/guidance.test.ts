import { describe, expect, it } from "vitest";
import { embedGuidance, applyGuidance } from "../../../../island-agent/runtimes/diffusers/guidance.ts";
import { closeTo } from "./samplers/sampler-support.ts";

describe("applyGuidance()", () => {
  const [without, withPrompt] = [Float32Array.of(1, -2, 0), Float32Array.of(3, -2, 0.5)];
  it.each([
    [0, [1, -2, 0]],
    [1, [3, -2, 0.5]],
    [7.5, [16, -2, 3.75]],
  ])("extrapolates from the prediction without the prompt at scale %d", (scale, expected) => {
    expect([...applyGuidance(without, withPrompt, scale)]).toEqual(expected);
  });
});

describe("embedGuidance()", () => {
  it("embeds scale 1 as zero, which is sines of 0 followed by cosines of 1", () => {
    expect([...embedGuidance(1, 6)]).toEqual([0, 0, 0, 1, 1, 1]);
  });
  it("uses frequencies that decrease to 1/10,000", () => {
    // 1000 * (1.002 - 1) = 2, and the rates are 1, 1/100 and 1/10000.
    const expected = [2, 0.02, 0.0002].map(Math.sin).concat([2, 0.02, 0.0002].map(Math.cos));
    expect([...embedGuidance(1.002, 6)]).toEqual(closeTo(expected, 4));
  });
  it("pads an odd width with zero", () => {
    expect(embedGuidance(8, 5)[4]).toBe(0);
    expect(embedGuidance(8, 5)).toHaveLength(5);
  });
});
