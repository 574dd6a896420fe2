const [M0, M1] = [0xd2511f53, 0xcd9e8d57] as const;
const [W0, W1] = [0x9e3779b9, 0xbb67ae85] as const;
const ROUNDS = 10;

/** Unsigned 32-bit words. */
export type Words4 = readonly [number, number, number, number];
export type Words2 = readonly [number, number];

/**
 * Philox4x32-10: four random words that depend only on counter and key. Source: Salmon et al. 2011, "Parallel Random
 * Numbers: As Easy as 1, 2, 3", §4.3.
 */
export function philox(counter: Words4, key: Words2): Words4 {
  let [a, b, c, d] = counter;
  let [k0, k1] = key;
  for (let round = 0; round < ROUNDS; round++) {
    [a, b, c, d] = [
      (highWordOf(M1, c) ^ b ^ k0) >>> 0,
      Math.imul(M1, c) >>> 0,
      (highWordOf(M0, a) ^ d ^ k1) >>> 0,
      Math.imul(M0, a) >>> 0,
    ];
    k0 = (k0 + W0) >>> 0;
    k1 = (k1 + W1) >>> 0;
  }
  return [a, b, c, d];
}

/** Returns the upper word of a 64-bit product, computed in halves because numbers are exact only up to 2^53. */
function highWordOf(x: number, y: number): number {
  const [xHigh, xLow] = [x >>> 16, x & 0xffff];
  const [yHigh, yLow] = [y >>> 16, y & 0xffff];
  const middle = xHigh * yLow + Math.floor((xLow * yLow) / 0x10000);
  const carried = xLow * yHigh + (middle % 0x10000);
  return (xHigh * yHigh + Math.floor(middle / 0x10000) + Math.floor(carried / 0x10000)) >>> 0;
}
