/** Growth of the variance of the added noise during training. */
interface BetaCurve {
  /** Quantity that grows linearly: beta, or its square root. Source of `scaled_linear`: Rombach et al. 2022, code. */
  readonly curve: "linear" | "scaled_linear";
  readonly start: number;
  readonly end: number;
  readonly count: number;
}

/** Returns the variance of the noise added at each timestep of training. */
export function betasOf({ curve, start, end, count }: BetaCurve): number[] {
  if (curve === "linear") return linspace(start, end, count);
  return linspace(Math.sqrt(start), Math.sqrt(end), count).map((root) => root ** 2);
}

/**
 * Returns the original's share of the latents' variance at each timestep, falling from nearly 1 to nearly 0. Latents at
 * timestep t are sqrt(a) * original + sqrt(1 - a) * noise. Source: Ho et al. 2020, §2: the product of all 1 - beta.
 */
export function computeAlphasCumprod(betas: readonly number[]): Float64Array {
  let alphaCumprod = 1;
  return Float64Array.from(betas, (beta) => (alphaCumprod *= 1 - beta));
}

/** Returns `count` evenly spaced numbers from `first` to `last`, both exact. If `count` is 1, returns only `first`. */
export function linspace(first: number, last: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => {
    const part = count === 1 ? 0 : i / (count - 1);
    return first * (1 - part) + last * part;
  });
}
