import { philox } from "./philox.ts";

const WORD = 2 ** 32;

/**
 * Returns standard normal noise from a seed, the same on every platform. Number `i` of draw `d` is the normal quantile
 * of (w + 1/2) / 2^32, where w is word `i % 4` of Philox4x32-10 with the counter (i / 4, d, 0, 0) and the key (seed %
 * 2^32, seed / 2^32). Each number can thus be computed without the previous ones.
 * @param seed 0 to 2^53 - 1.
 * @param draw number of the noise tensor within the image; 0 is the initial noise.
 */
export function seededNoise(seed: number, draw: number, length: number): Float32Array {
  const key = [seed % WORD, Math.floor(seed / WORD)] as const;
  const noise = new Float32Array(length);
  for (let block = 0; block * 4 < length; block++) {
    const words = philox([block, draw, 0, 0], key);
    for (const [i, word] of words.entries()) {
      if (block * 4 + i < length) noise[block * 4 + i] = normalQuantile((word + 0.5) / WORD);
    }
  }
  return noise;
}

/**
 * Returns the quantile of the standard normal distribution, 0 < p < 1, accurate to 7 digits. It uses only sums,
 * products, roots and one logarithm. Methods with sines differ in their last bits between platforms. Source: Wichura
 * 1988, algorithm AS 241, PPND7.
 */
export function normalQuantile(p: number): number {
  const fromMiddle = p - 0.5;
  if (Math.abs(fromMiddle) <= 0.425) {
    const r = 0.180625 - fromMiddle ** 2;
    return (fromMiddle * polynomial(r, CENTRAL[0])) / polynomial(r, CENTRAL[1]);
  }
  const r = Math.sqrt(-Math.log(Math.min(p, 1 - p)));
  const [above, below] = r <= 5 ? NEAR_TAIL : FAR_TAIL;
  const from = r - (r <= 5 ? 1.6 : 5);
  return (Math.sign(fromMiddle) * polynomial(from, above)) / polynomial(from, below);
}

/** Coefficients of numerator and denominator, from the constant up. */
const CENTRAL = [
  [3.3871327179, 50.434271938, 159.29113202, 59.10937472],
  [1, 17.895169469, 78.757757664, 67.1875636],
] as const;
const NEAR_TAIL = [
  [1.4234372777, 2.75681539, 1.3067284816, 0.17023821103],
  [1, 0.7370016425, 0.12021132975],
] as const;
const FAR_TAIL = [
  [6.657905115, 3.081226386, 0.42868294337, 0.017337203997],
  [1, 0.24197894225, 0.012258202635],
] as const;

function polynomial(x: number, coefficients: readonly number[]): number {
  return coefficients.reduceRight((sum, coefficient) => sum * x + coefficient, 0);
}
