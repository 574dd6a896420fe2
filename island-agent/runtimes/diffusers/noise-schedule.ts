/** How training mixed pictures with noise. Latents at time t: sqrt(signal[t]) * picture + sqrt(1 - signal[t]) * noise. */
export interface NoiseSchedule {
  /** Noise variances beta of the steps of training, or how to reckon them. */
  readonly betas:
    | readonly number[]
    | {
        readonly curve: "linear" | "scaled_linear";
        readonly start: number;
        readonly end: number;
        readonly count: number;
      };
}

/**
 * Share of the picture in the variance of the latents at each time, the paper's cumulative product of 1 - beta; falls from
 * nearly 1 to nearly 0. Source: Ho et al. 2020, §2; `scaled_linear`: Rombach et al. 2022, code.
 */
export function signalShares({ betas }: NoiseSchedule): Float64Array {
  const list = Array.isArray(betas)
    ? (betas as readonly number[])
    : betasOf(betas as Exclude<typeof betas, readonly number[]>);
  let share = 1;
  return Float64Array.from(list, (beta) => (share *= 1 - beta));
}

function betasOf({ curve, start, end, count }: Exclude<NoiseSchedule["betas"], readonly number[]>): number[] {
  if (curve === "linear") return spread(start, end, count);
  return spread(Math.sqrt(start), Math.sqrt(end), count).map((root) => root ** 2);
}

/** `count` numbers from `first` to `last`, evenly, both of them exactly; one number is `first`. */
export function spread(first: number, last: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => {
    const part = count === 1 ? 0 : i / (count - 1);
    return first * (1 - part) + last * part;
  });
}
