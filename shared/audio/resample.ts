/** Number of zero crossings of the filter on each side. A larger number makes the filter steeper and slower. */
const LOBES = 16;
/**
 * Maximum number of cached filters per call, which take 4 MB. A larger cache would not help rates without a common
 * divisor.
 */
const MAX_KEPT_TAPS = 1_000_000;
/** Number of output samples between two yields. */
const SAMPLES_PER_STEP = 100_000;

/** Weights of consecutive input samples for one output sample. */
interface Filter {
  /** Position of the first weight, relative to the input sample at or before the output position. */
  readonly offset: number;
  readonly taps: Float32Array;
}

/**
 * Converts audio to another sample rate with a windowed sinc filter (Hann), which removes frequencies above the limit
 * of the lower rate. The positions of output samples between input samples repeat, so filters are cached. Source: J. O.
 * Smith, "Digital Audio Resampling", 2002.
 */
export function resample(samples: Float32Array, fromHz: number, toHz: number): Float32Array {
  const steps = resampleInSteps(samples, fromHz, toHz);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Resamples in steps. Half an hour of audio takes seconds; between two steps the caller may do other work, or stop. */
export function* resampleInSteps(
  samples: Float32Array,
  fromHz: number,
  toHz: number,
): Generator<void, Float32Array, void> {
  if (fromHz === toHz) return samples;
  const divisor = greatestCommonDivisor(fromHz, toHz);
  const [step, phases] = [fromHz / divisor, toHz / divisor];
  /** Cutoff of the filter relative to the input's Nyquist frequency; less than 1 if the output rate is lower. */
  const cutoff = Math.min(1, toHz / fromHz);
  const keepsFilters = phases * ((2 * LOBES) / cutoff + 2) <= MAX_KEPT_TAPS;
  const filters = new Map<number, Filter>();
  const resampled = new Float32Array(Math.floor((samples.length * phases) / step));
  for (let i = 0; i < resampled.length; i++) {
    const base = Math.floor((i * step) / phases);
    const phase = (i * step) % phases;
    const filter = filters.get(phase) ?? filterAt(phase / phases, cutoff);
    if (keepsFilters) filters.set(phase, filter);
    resampled[i] = weightedMean(samples, base + filter.offset, filter.taps);
    if (i % SAMPLES_PER_STEP === SAMPLES_PER_STEP - 1) yield;
  }
  return resampled;
}

/** @param position position of the output sample after an input sample, 0 to 1 */
function filterAt(position: number, cutoff: number): Filter {
  const reach = LOBES / cutoff;
  const offset = Math.ceil(position - reach);
  const taps = new Float32Array(Math.floor(position + reach) - offset + 1);
  for (let at = 0; at < taps.length; at++) {
    const distance = offset + at - position;
    taps[at] = sinc(distance * cutoff) * (0.5 + 0.5 * Math.cos((Math.PI * distance) / reach));
  }
  return { offset, taps };
}

/** Returns the weighted mean of samples. At either end of the audio, samples that do not exist are left out. */
function weightedMean(samples: Float32Array, first: number, taps: Float32Array): number {
  let sum = 0;
  let weight = 0;
  const end = Math.min(taps.length, samples.length - first);
  for (let at = Math.max(0, -first); at < end; at++) {
    const tap = taps[at] ?? 0;
    sum += (samples[first + at] ?? 0) * tap;
    weight += tap;
  }
  return weight === 0 ? 0 : sum / weight;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}
