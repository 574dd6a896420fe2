/** How the noise that training mixed in grew from step to step. */
export interface BetaCurve {
  /** What grows evenly: beta, or its root. Source of `scaled_linear`: Rombach et al. 2022, code. */
  readonly curve: "linear" | "scaled_linear";
  readonly start: number;
  readonly end: number;
  readonly count: number;
}

/** Variance of the noise that each step of training mixed in. */
export function betasOf({ curve, start, end, count }: BetaCurve): number[] {
  if (curve === "linear") return spread(start, end, count);
  return spread(Math.sqrt(start), Math.sqrt(end), count).map((root) => root ** 2);
}

/**
 * Share of the original in the variance of the latents at each time; falls from nearly 1 to nearly 0. Latents at time t are
 * sqrt(share) * original + sqrt(1 - share) * noise. Source: Ho et al. 2020, §2, the product of all 1 - beta.
 */
export function signalShares(betas: readonly number[]): Float64Array {
  let share = 1;
  return Float64Array.from(betas, (beta) => (share *= 1 - beta));
}

/** `count` numbers from `first` to `last`, evenly, both of them exactly; one number is `first`. */
export function spread(first: number, last: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => {
    const part = count === 1 ? 0 : i / (count - 1);
    return first * (1 - part) + last * part;
  });
}
