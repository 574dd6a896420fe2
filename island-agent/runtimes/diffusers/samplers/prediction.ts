/** Quantity that a network was trained to predict. Source of `v_prediction`: Salimans and Ho 2022, appendix D. */
export const PREDICTION_TYPES = ["epsilon", "v_prediction", "sample"] as const;
export type PredictionType = (typeof PREDICTION_TYPES)[number];

/** Parts of a latent, which is `signal * original + noise * epsilon`. */
interface Parts {
  readonly original: number;
  readonly epsilon: number;
}

/**
 * Splits a latent into its parts, using the network's output.
 * @param signal the original's weight in the latent, sqrt(alphaCumprod); above 0.
 * @param noise the weight of the noise, sqrt(1 - alphaCumprod); above 0.
 */
export function splitLatent(
  type: PredictionType,
  { latent, modelOutput, signal, noise }: { latent: number; modelOutput: number; signal: number; noise: number },
): Parts {
  switch (type) {
    case "epsilon":
      return { original: (latent - noise * modelOutput) / signal, epsilon: modelOutput };
    case "v_prediction":
      return { original: signal * latent - noise * modelOutput, epsilon: signal * modelOutput + noise * latent };
    case "sample":
      return { original: modelOutput, epsilon: (latent - signal * modelOutput) / noise };
    default:
      return type satisfies never;
  }
}
