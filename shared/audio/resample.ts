/** Zero crossings of the filter on each side; more make it steeper and slower. */
const LOBES = 16;

/**
 * Converts audio to another sample rate with a windowed sinc filter (Hann), which removes frequencies above the lower rate's limit.
 * Source: J. O. Smith, "Digital Audio Resampling", 2002.
 */
export function resample(samples: Float32Array, fromHz: number, toHz: number): Float32Array {
  if (fromHz === toHz) return samples;
  const step = fromHz / toHz;
  /** Cutoff of the filter relative to the input's Nyquist frequency; below 1 when the rate falls. */
  const cutoff = Math.min(1, toHz / fromHz);
  const reach = LOBES / cutoff;
  const resampled = new Float32Array(Math.floor(samples.length / step));
  for (let i = 0; i < resampled.length; i++) {
    const centre = i * step;
    const first = Math.max(0, Math.ceil(centre - reach));
    const last = Math.min(samples.length - 1, Math.floor(centre + reach));
    let sum = 0;
    let weight = 0;
    for (let at = first; at <= last; at++) {
      const distance = at - centre;
      const gain = sinc(distance * cutoff) * (0.5 + 0.5 * Math.cos((Math.PI * distance) / reach));
      sum += (samples[at] ?? 0) * gain;
      weight += gain;
    }
    resampled[i] = weight === 0 ? 0 : sum / weight;
  }
  return resampled;
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}
