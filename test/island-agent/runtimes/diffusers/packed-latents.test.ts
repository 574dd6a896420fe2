import { describe, expect, it } from "vitest";
import {
  imagePositions,
  packLatents,
  textPositions,
  unpackLatents,
} from "../../../../island-agent/runtimes/diffusers/packed-latents.ts";

const SIZE = { width: 4, height: 2 };
/** Two channels of two rows of four. */
const LATENTS = Float32Array.from({ length: 16 }, (_, i) => i);

describe("packLatents()", () => {
  it("packs 2 by 2 latents of all channels into a token, which unpackLatents() reverses", () => {
    const { data, dims } = packLatents(LATENTS, 2, SIZE);
    expect(dims).toEqual([1, 2, 8]);
    expect([...data]).toEqual([0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15]);
    expect(unpackLatents(Float32Array.from(data), 2, SIZE)).toEqual(LATENTS);
  });
});

describe("imagePositions()", () => {
  it("returns the row and column of each token, while textPositions() returns zeros", () => {
    const { data, dims } = imagePositions({ width: 4, height: 4 });
    expect(dims).toEqual([4, 3]);
    expect([...data]).toEqual([0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1]);
    expect(textPositions(2)).toEqual({ data: new Float32Array(6), dims: [2, 3] });
  });
});
