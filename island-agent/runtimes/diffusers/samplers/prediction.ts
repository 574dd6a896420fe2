/** What a network was trained to say. Source of `v_prediction`: Salimans and Ho 2022, appendix D. */
export const PREDICTION_TYPES = ["epsilon", "v_prediction", "sample"] as const;
export type PredictionType = (typeof PREDICTION_TYPES)[number];

/** Latents taken apart: `signal * original + noise * epsilon`. */
export interface Parts {
  readonly original: number;
  readonly epsilon: number;
}

/**
 * Takes a latent apart by what the network says of it.
 * @param signal the original's weight in the latent, sqrt(share); above 0.
 * @param noise the weight of the noise, sqrt(1 - share); above 0.
 */
export function takeApart(
  type: PredictionType,
  { latent, said, signal, noise }: { latent: number; said: number; signal: number; noise: number },
): Parts {
  switch (type) {
    case "epsilon":
      return { original: (latent - noise * said) / signal, epsilon: said };
    case "v_prediction":
      return { original: signal * latent - noise * said, epsilon: signal * said + noise * latent };
    case "sample":
      return { original: said, epsilon: (latent - signal * said) / noise };
    default:
      return type satisfies never;
  }
}
