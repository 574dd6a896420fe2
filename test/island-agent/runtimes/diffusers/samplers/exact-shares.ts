/** The number 1 in fixed-point arithmetic with 50 decimal places, which is slow but independent of the tested code. */
const ONE = 10n ** 50n;

/**
 * Returns cumulative products of 1 - beta. The betas, or their roots, are spaced evenly from `start` to `end` (decimal
 * text).
 */
export function exactShares(curve: "linear" | "scaled_linear", start: string, end: string, count: number): number[] {
  const [first, last] = [start, end].map((text) => (curve === "linear" ? fixed(text) : squareRoot(fixed(text))));
  const alphasCumprod: number[] = [];
  let alphaCumprod = ONE;
  for (let i = 0; i < count; i++) {
    const point = first! + ((last! - first!) * BigInt(i)) / BigInt(count - 1);
    const beta = curve === "linear" ? point : (point * point) / ONE;
    alphaCumprod = (alphaCumprod * (ONE - beta)) / ONE;
    alphasCumprod.push(Number(alphaCumprod) / Number(ONE));
  }
  return alphasCumprod;
}

/** Parses a decimal such as "0.00085". */
function fixed(text: string): bigint {
  const [whole = "0", decimals = ""] = text.split(".");
  return BigInt(whole) * ONE + BigInt(decimals.padEnd(50, "0"));
}

/** Newton's method. */
function squareRoot(value: bigint): bigint {
  let root = ONE;
  for (let i = 0; i < 300; i++) root = (root + (value * ONE) / root) / 2n;
  return root;
}
