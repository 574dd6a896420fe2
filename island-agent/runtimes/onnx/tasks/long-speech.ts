/** Result of transformers.js for a recording. */
interface Transcript {
  readonly text: string;
  readonly chunks?: readonly { readonly timestamp: readonly (number | null)[]; readonly text: string }[];
}

/** Steps of the quietest pause, 0.2 s, in which recordings are cut. */
const STEP_S = 0.02;
const STEPS_IN_PAUSE = 10;
/** Minimum length of a part. A shorter remainder is not transcribed. */
const MIN_PART_S = 0.1;

/**
 * Transcribes a long recording part by part, and joins texts and times, which never decrease.
 * @param windowS Maximum length of a part.
 * @param transcribe Receives a part, its number and the number of parts.
 */
export async function transcribeInChunks(
  samples: Float32Array,
  sampleRateHz: number,
  windowS: number,
  transcribe: (part: Float32Array, index: number, parts: number) => Promise<Transcript>,
): Promise<Required<Transcript>> {
  const parts = cutInPauses(samples, sampleRateHz, windowS);
  const texts: string[] = [];
  const chunks: { timestamp: readonly number[]; text: string }[] = [];
  let nowS = 0;
  for (const [index, [from, to]] of parts.entries()) {
    // The model transcribes one window at a time.
    // oxlint-disable-next-line no-await-in-loop
    const transcript = await transcribe(samples.subarray(from, to), index, parts.length);
    texts.push(transcript.text);
    const [startS, endS] = [from / sampleRateHz, to / sampleRateHz];
    const clampTime = (seconds: number | null | undefined, otherwise: number): number => {
      const timeS = seconds === null || seconds === undefined ? otherwise : startS + seconds;
      return (nowS = Math.max(nowS, Math.min(timeS, endS)));
    };
    const found = transcript.chunks ?? [];
    for (const [at, { timestamp, text }] of found.entries()) {
      // A chunk without an end lasts until the next one starts.
      const end = timestamp[1] ?? found[at + 1]?.timestamp[0];
      chunks.push({ timestamp: [clampTime(timestamp[0], startS), clampTime(end, endS)], text });
    }
  }
  // Whisper's texts start with their space, in languages with spaces.
  return { text: texts.join(""), chunks };
}

/**
 * Returns parts of at most `windowS`, as [from, to) in samples. Each part except the last ends at the quietest point of
 * its second half.
 * @throws {RangeError} for a window of less than two samples, which a model's files may state
 */
export function cutInPauses(samples: Float32Array, sampleRateHz: number, windowS: number): [number, number][] {
  const window = Math.floor(windowS * sampleRateHz);
  if (!(window >= 2)) throw new RangeError(`chunk_length: a window of ${windowS} s is too short to transcribe`);
  const parts: [number, number][] = [];
  let from = 0;
  while (samples.length - from > window) {
    const to = quietestIn(samples, from + Math.floor(window / 2), from + window, sampleRateHz);
    parts.push([from, to]);
    from = to;
  }
  if (samples.length - from >= MIN_PART_S * sampleRateHz || parts.length === 0) parts.push([from, samples.length]);
  return parts;
}

/**
 * Returns the middle of the quietest pause between two positions. Of equally quiet pauses it takes the last, for longer
 * parts.
 */
function quietestIn(samples: Float32Array, from: number, to: number, sampleRateHz: number): number {
  const step = Math.max(1, Math.floor(STEP_S * sampleRateHz));
  const energies: number[] = [];
  let best = { at: to, energy: Infinity };
  for (let end = from + step; end <= to; end += step) {
    energies.push(energyOf(samples.subarray(end - step, end)));
    if (energies.length < STEPS_IN_PAUSE) continue;
    const energy = energies.slice(-STEPS_IN_PAUSE).reduce((sum, each) => sum + each, 0);
    if (energy <= best.energy) best = { at: end - (STEPS_IN_PAUSE / 2) * step, energy };
  }
  return best.at;
}

function energyOf(samples: Float32Array): number {
  let energy = 0;
  for (const sample of samples) energy += sample * sample;
  return energy;
}
