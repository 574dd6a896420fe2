/**
 * Applies classifier-free guidance: moves the output with the prompt away from the output without it. Source: Ho and
 * Salimans 2022, equation 6, in diffusers' scale, where 1 is the output with the prompt.
 */
export function applyGuidance(without: Float32Array, withPrompt: Float32Array, scale: number): Float32Array {
  return without.map((modelOutput, i) => modelOutput + scale * ((withPrompt[i] ?? NaN) - modelOutput));
}

/**
 * Embeds the guidance scale for a network that was distilled with it (`timestep_cond`). Source: Luo et al. 2023, §4.2,
 * and the sinusoids of Vaswani et al. 2017: sines, then cosines, of 1,000 * (scale - 1).
 */
export function embedGuidance(scale: number, width: number): Float32Array {
  const half = Math.floor(width / 2);
  const embedding = new Float32Array(width);
  for (let i = 0; i < half; i++) {
    const angle = 1_000 * (scale - 1) * 10_000 ** (-i / Math.max(1, half - 1));
    embedding[i] = Math.sin(angle);
    embedding[half + i] = Math.cos(angle);
  }
  return embedding;
}
