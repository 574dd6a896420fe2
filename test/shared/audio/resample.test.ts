import { describe, expect, it } from "vitest";
import { resample } from "../../../shared/audio/resample.ts";

function tone(hz: number, rateHz: number, seconds: number): Float32Array {
  return Float32Array.from({ length: rateHz * seconds }, (_, i) => Math.sin((2 * Math.PI * hz * i) / rateHz));
}

/** Returns the loudness without the ends, where the filter sees only half of its samples. */
function rms(samples: Float32Array): number {
  const middle = samples.subarray(samples.length / 4, (samples.length * 3) / 4);
  return Math.sqrt(middle.reduce((sum, sample) => sum + sample * sample, 0) / middle.length);
}

describe("resample()", () => {
  it.each([8_000, 22_050, 44_100, 48_000])("keeps a tone of 1 kHz unchanged, from %i Hz", (fromHz) => {
    const resampled = resample(tone(1_000, fromHz, 0.2), fromHz, 16_000);
    const expected = tone(1_000, 16_000, 0.2);
    expect(resampled.length).toBe(expected.length);
    for (let i = 400; i < 2_800; i++) expect(resampled[i]).toBeCloseTo(expected[i] ?? NaN, 2);
  });

  it("removes frequencies that the lower rate cannot represent", () => {
    expect(rms(resample(tone(11_000, 48_000, 0.2), 48_000, 16_000))).toBeLessThan(0.02);
  });

  it("keeps a constant to its ends", () => {
    const resampled = resample(new Float32Array(441).fill(0.5), 44_100, 16_000);
    expect(resampled.length).toBe(160);
    for (const sample of resampled) expect(sample).toBeCloseTo(0.5, 5);
  });

  it("returns the same samples at the same rate, and none for none", () => {
    const samples = Float32Array.of(1, 2);
    expect(resample(samples, 16_000, 16_000)).toBe(samples);
    expect(resample(new Float32Array(0), 8_000, 16_000).length).toBe(0);
  });
});
