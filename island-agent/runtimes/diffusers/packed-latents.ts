import type { Size } from "./size.ts";
import type { NumberGrid } from "./pipeline-graph.ts";

/** Latents per token, in width and in height. */
export const PATCH_SIDE = 2;
const PATCH = PATCH_SIDE * PATCH_SIDE;
/** Count of numbers per position, the first of which is 0 for an image. */
const POSITION = 3;

/** Packs latents for Flux: one token per 2 by 2 latents, row by row. Source: diffusers, `_pack_latents`. */
export function packLatents(latents: Float32Array, channels: number, size: Size): NumberGrid {
  const packed = new Float32Array(latents.length);
  for (const [from, to] of pairs(channels, size)) packed[to] = latents[from] ?? NaN;
  return { data: packed, dims: [1, latents.length / (channels * PATCH), channels * PATCH] };
}

export function unpackLatents(packed: Float32Array, channels: number, size: Size): Float32Array {
  const latents = new Float32Array(packed.length);
  for (const [from, to] of pairs(channels, size)) latents[from] = packed[to] ?? NaN;
  return latents;
}

/** Returns the positions of an image's tokens: 0, row, column. */
export function imagePositions({ width, height }: Size): NumberGrid {
  const columns = width / PATCH_SIDE;
  const count = columns * (height / PATCH_SIDE);
  const data = new Float32Array(count * POSITION);
  for (let token = 0; token < count; token += 1)
    data.set([0, Math.floor(token / columns), token % columns], token * POSITION);
  return { data, dims: [count, POSITION] };
}

/** Returns the positions of a text's tokens, which are all zero. */
export function textPositions(tokens: number): NumberGrid {
  return { data: new Float32Array(tokens * POSITION), dims: [tokens, POSITION] };
}

/** Yields the index in planes and the index in tokens of each latent. */
function* pairs(channels: number, { width, height }: Size): Generator<[number, number]> {
  const columns = width / PATCH_SIDE;
  for (let channel = 0; channel < channels; channel += 1) {
    for (let y = 0; y < height; y += 1) {
      for (let x = 0; x < width; x += 1) {
        const token = Math.floor(y / PATCH_SIDE) * columns + Math.floor(x / PATCH_SIDE);
        const within = channel * PATCH + (y % PATCH_SIDE) * PATCH_SIDE + (x % PATCH_SIDE);
        yield [(channel * height + y) * width + x, token * channels * PATCH + within];
      }
    }
  }
}
