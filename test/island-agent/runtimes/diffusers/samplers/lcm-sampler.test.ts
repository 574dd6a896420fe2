import { describe, expect, it } from "vitest";
import { LcmSampler } from "../../../../../island-agent/runtimes/diffusers/samplers/lcm-sampler.ts";
import { closeTo, makeTraining, NOISE, noised, PICTURE, SHARES, truthOf } from "./sampler-support.ts";

const OPTIONS = { distilledSteps: 50, timeScale: 10 };
const FRESH = Float32Array.from([0.3, 0.3, -0.6, 1, -1]);
const never = (): Float32Array => {
  throw new Error("no fresh noise is due");
};

describe("LcmSampler", () => {
  it.each([
    [1, [999]],
    [2, [999, 499]],
    [4, [999, 759, 499, 259]],
    [8, [999, 879, 759, 639, 499, 379, 259, 139]],
  ])("uses the published timesteps for %i steps", (steps, expected) => {
    expect(new LcmSampler(makeTraining(), steps, OPTIONS).timesteps).toEqual(expected);
  });

  it("adds fresh noise to the predicted original for the next timestep", () => {
    const sampler = new LcmSampler(makeTraining(), 4, OPTIONS);
    const latents = Float32Array.from(noised(999));
    expect([...sampler.scaleModelInput(latents)]).toEqual([...latents]);
    const next = sampler.advance(latents, truthOf("epsilon", 999), 0, () => FRESH);
    expect([...next]).toEqual(closeTo(noised(759, PICTURE, [...FRESH]), 4));
  });

  it("ends with the original, without fresh noise", () => {
    const sampler = new LcmSampler(makeTraining(), 4, OPTIONS);
    const end = sampler.advance(Float32Array.from(noised(259)), truthOf("epsilon", 259), 3, never);
    expect([...end]).toEqual(closeTo(PICTURE, 4));
  });

  it.each([1, 10])("weights latents and original by the paper's c_skip and c_out with time scale %i", (timeScale) => {
    // With as many steps as training, some timesteps are small enough for both weights to matter.
    const sampler = new LcmSampler(makeTraining(), 1_000, { distilledSteps: 1_000, timeScale });
    expect(sampler.timesteps[998]).toBe(1);
    const [skip, out] = [0.25 / (timeScale ** 2 + 0.25), timeScale / Math.sqrt(timeScale ** 2 + 0.25)];
    const latents = noised(1);
    const next = sampler.advance(Float32Array.from(latents), truthOf("epsilon", 1), 998, () => FRESH);
    const expected = PICTURE.map((value, i) => {
      const original = out * value + skip * latents[i]!;
      return Math.sqrt(SHARES[0]!) * original + Math.sqrt(1 - SHARES[0]!) * FRESH[i]!;
    });
    expect([...next]).toEqual(closeTo(expected));
  });

  it("returns its input at timestep 0 for any prediction (boundary condition of consistency)", () => {
    const sampler = new LcmSampler(makeTraining(), 1_000, { distilledSteps: 1_000, timeScale: 10 });
    expect(sampler.timesteps[999]).toBe(0);
    expect([...sampler.advance(Float32Array.from(NOISE), Float32Array.from(PICTURE), 999, never)]).toEqual(
      closeTo(NOISE),
    );
  });
});
