/** Decoded audio. */
export interface Recording {
  readonly sampleRateHz: number;
  /** All channels mixed to one. Each sample is from -1 to 1. */
  readonly samples: Float32Array;
}

/** Error for a file that is not a WAV file or whose format is not supported. */
export class WavError extends Error {
  override readonly name = "WavError";
}

const HEAD_BYTES = 44;
const UNKNOWN_BYTES = 0xffff_ffff;
const PCM = 1;
const FLOAT = 3;
/** Format tag of extensible files: the real format is in the first two bytes of a GUID, at EXTENSIBLE_FORMAT_AT. */
const EXTENSIBLE = 0xfffe;
const EXTENSIBLE_FORMAT_AT = 24;
const MIN_RATE_HZ = 4_000;
const MAX_RATE_HZ = 384_000;
const MAX_CHANNELS = 32;

interface SampleFormat {
  readonly bytes: number;
  /** Returns the sample at an offset, from -1 to 1. */
  readonly read: (view: DataView, at: number) => number;
}

/** Formats by tag and bits. Samples of 8 bits are unsigned, all others are signed. */
const SAMPLE_FORMATS: ReadonlyMap<string, SampleFormat> = new Map([
  [`${PCM} 8`, { bytes: 1, read: (view, at) => (view.getUint8(at) - 128) / 128 }],
  [`${PCM} 16`, { bytes: 2, read: (view, at) => view.getInt16(at, true) / 32_768 }],
  [
    `${PCM} 24`,
    { bytes: 3, read: (view, at) => (view.getUint16(at, true) + view.getInt8(at + 2) * 65_536) / 8_388_608 },
  ],
  [`${PCM} 32`, { bytes: 4, read: (view, at) => view.getInt32(at, true) / 2_147_483_648 }],
  [`${FLOAT} 32`, { bytes: 4, read: (view, at) => clamp(view.getFloat32(at, true)) }],
  [`${FLOAT} 64`, { bytes: 8, read: (view, at) => clamp(view.getFloat64(at, true)) }],
]);

/**
 * Reads a RIFF WAVE file of PCM or floating-point samples. A `data` chunk longer than the file, as in streams, ends
 * with the file. Source: Microsoft, "Multiple Channel Audio Data and WAVE Files".
 * @throws {WavError}
 */
export function readWav(file: Uint8Array): Recording {
  const { view, start, end, format } = findSamples(file, file.byteLength);
  return { sampleRateHz: format.sampleRateHz, samples: mixDown(view, start, end, format) };
}

/**
 * Returns the duration in seconds of a file of `fileBytes` that starts with `head`.
 * @throws {WavError} if the file is not supported, or if the samples do not start in the head
 */
export function wavSeconds(head: Uint8Array, fileBytes: number): number {
  const { start, end, format } = findSamples(head, fileBytes);
  return Math.floor((end - start) / (format.bytes * format.channels)) / format.sampleRateHz;
}

function findSamples(head: Uint8Array, fileBytes: number) {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  if (head.byteLength < 12 || textAt(view, 0) !== "RIFF" || textAt(view, 8) !== "WAVE")
    throw new WavError("is not a WAV file");
  let format: ReturnType<typeof readFormat> | undefined;
  for (let at = 12; at + 8 <= head.byteLength;) {
    const name = textAt(view, at);
    const size = view.getUint32(at + 4, true);
    const start = at + 8;
    const end = Math.min(start + size, fileBytes);
    if (name === "fmt ") format = readFormat(view, start, Math.min(end, head.byteLength));
    if (name === "data") {
      if (format === undefined) throw new WavError("has its samples before the chunk that states their format");
      return { view, start, end, format };
    }
    at = start + size + (size % 2);
  }
  throw new WavError("does not contain samples");
}

function readFormat(view: DataView, start: number, end: number) {
  if (end - start < 16) throw new WavError("has a truncated format chunk");
  const tag = view.getUint16(start, true);
  const channels = view.getUint16(start + 2, true);
  const sampleRateHz = view.getUint32(start + 4, true);
  const bits = view.getUint16(start + 14, true);
  const isExtensible = tag === EXTENSIBLE && end - start >= EXTENSIBLE_FORMAT_AT + 2;
  const code = isExtensible ? view.getUint16(start + EXTENSIBLE_FORMAT_AT, true) : tag;
  const format = SAMPLE_FORMATS.get(`${code} ${bits}`);
  if (format === undefined) {
    throw new WavError(
      `contains samples of format ${code} with ${bits} bits; supported are PCM of 8, 16, 24, 32 and float of 32, 64`,
    );
  }
  if (channels < 1 || channels > MAX_CHANNELS) throw new WavError(`has ${channels} channels, not 1 to ${MAX_CHANNELS}`);
  if (sampleRateHz < MIN_RATE_HZ || sampleRateHz > MAX_RATE_HZ) {
    throw new WavError(`has ${sampleRateHz} samples a second, not ${MIN_RATE_HZ} to ${MAX_RATE_HZ}`);
  }
  return { ...format, channels, sampleRateHz };
}

function mixDown(
  view: DataView,
  start: number,
  end: number,
  format: SampleFormat & { channels: number },
): Float32Array {
  const { bytes, channels, read } = format;
  const frameBytes = bytes * channels;
  const samples = new Float32Array(Math.floor((end - start) / frameBytes));
  for (let frame = 0; frame < samples.length; frame++) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel++)
      sum += read(view, start + frame * frameBytes + channel * bytes);
    samples[frame] = sum / channels;
  }
  return samples;
}

/** Limits a sample to -1..1; NaN becomes silence. */
function clamp(sample: number): number {
  return Number.isNaN(sample) ? 0 : Math.max(-1, Math.min(1, sample));
}

function textAt(view: DataView, at: number): string {
  return String.fromCharCode(...[0, 1, 2, 3].map((i) => view.getUint8(at + i)));
}

/** Writes a mono WAV file of 16-bit PCM. */
export function writeWav({ samples, sampleRateHz }: Recording): Buffer {
  const pcm = pcm16Of(samples);
  return Buffer.concat([wavHead(sampleRateHz, pcm.length), pcm]);
}

/**
 * Returns the header of a mono WAV file of 16-bit PCM. If `dataBytes` is null, the size is unknown and readers read to
 * the end of the file.
 */
export function wavHead(sampleRateHz: number, dataBytes: number | null): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.write("RIFF", 0, "latin1");
  head.writeUInt32LE(dataBytes === null ? UNKNOWN_BYTES : HEAD_BYTES - 8 + dataBytes, 4);
  head.write("WAVEfmt ", 8, "latin1");
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(PCM, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(sampleRateHz, 24);
  head.writeUInt32LE(sampleRateHz * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36, "latin1");
  head.writeUInt32LE(dataBytes ?? UNKNOWN_BYTES, 40);
  return head;
}

/** Converts samples to 16-bit PCM, little-endian. */
export function pcm16Of(samples: Float32Array): Buffer {
  const pcm = Buffer.alloc(samples.length * 2);
  for (const [i, sample] of samples.entries()) pcm.writeInt16LE(Math.round(clamp(sample) * 32_767), i * 2);
  return pcm;
}
