/** A WAV file, valid or invalid, that is built byte by byte. */
export interface WavParts {
  /** 1 is PCM, 3 is float, and 65534 is extensible. */
  readonly format?: number;
  /** Format of an extensible file. */
  readonly subFormat?: number;
  readonly bits: number;
  readonly channels?: number;
  readonly rateHz?: number;
  readonly data: Uint8Array;
  /** Size that the `data` chunk states. Default: the actual size. */
  readonly claimedBytes?: number;
  /** Chunks before `fmt `. */
  readonly before?: readonly { name: string; data: Uint8Array }[];
}

export function buildWav(parts: WavParts): Buffer {
  const { format = 1, subFormat, bits, channels = 1, rateHz = 16_000, data, claimedBytes, before = [] } = parts;
  const fmt = Buffer.alloc(subFormat === undefined ? 16 : 40);
  fmt.writeUInt16LE(format, 0);
  fmt.writeUInt16LE(channels, 2);
  fmt.writeUInt32LE(rateHz, 4);
  fmt.writeUInt32LE(((rateHz * channels * bits) / 8) % 2 ** 32, 8);
  fmt.writeUInt16LE(((channels * bits) / 8) & 0xffff, 12);
  fmt.writeUInt16LE(bits, 14);
  if (subFormat !== undefined) fmt.writeUInt16LE(subFormat, 24);
  const chunks = [
    ...before.map(({ name, data }) => chunk(name, data)),
    chunk("fmt ", fmt),
    chunk("data", data, claimedBytes),
  ];
  const body = Buffer.concat([Buffer.from("WAVE"), ...chunks]);
  return chunk("RIFF", body);
}

function chunk(name: string, data: Uint8Array, claimedBytes = data.length): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, 0, "latin1");
  head.writeUInt32LE(claimedBytes, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}
