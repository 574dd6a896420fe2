import { inflateSync } from "node:zlib";

export interface PngPixels {
  readonly width: number;
  readonly height: number;
  /** Bytes of a pixel, 1 to 4. */
  readonly channels: number;
  /** Rows from top to bottom. */
  readonly bytes: Uint8Array;
}

/** Base64 of a PNG file begins with this text. */
export const PNG_START = "iVBORw0KGgo";
const SIGNATURE_BYTES = 8;
/** Bytes of a chunk besides its data: length, name and checksum. */
const CHUNK_BYTES = 12;
const IHDR_BYTES = 13;
/** Maximum bytes of decoded pixels: a mask of 4096 by 4096 pixels, or an image of 2048 by 2048 with transparency. */
const MAX_BYTES = 16_777_216;
/** Channels of each colour type with 8 bits: greyscale, RGB, and both with transparency. Source: RFC 2083. */
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 4: 2, 6: 4 };

/**
 * Decodes a PNG file in base64. Null for large, damaged and other files, and for PNGs with a palette, other than 8 bits,
 * or interlacing. Runtimes of Islands do not write these.
 * @param spend Is called with the number of bytes to decode, before that work. May throw.
 */
export function decodePng(base64: string, spend: (bytes: number) => void): PngPixels | null {
  const file = Buffer.from(base64, "base64");
  const data: Buffer[] = [];
  let header = Buffer.alloc(0);
  for (let at = SIGNATURE_BYTES; at + CHUNK_BYTES <= file.length;) {
    const length = file.readUInt32BE(at);
    const name = file.toString("latin1", at + 4, at + 8);
    const content = file.subarray(at + 8, at + 8 + length);
    if (name === "IHDR") header = Buffer.from(content);
    if (name === "IDAT") data.push(content);
    at += CHUNK_BYTES + length;
  }
  if (header.length !== IHDR_BYTES) return null;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [bits, colourType = -1, , , interlace] = header.subarray(8);
  const channels = CHANNELS[colourType];
  if (channels === undefined || bits !== 8 || interlace !== 0) return null;
  const size = (width * channels + 1) * height;
  if (width < 1 || height < 1 || size > MAX_BYTES + height) return null;
  spend(size);
  try {
    const filtered = inflateSync(Buffer.concat(data), { maxOutputLength: size });
    const bytes = filtered.length === size ? unfilter(filtered, width * channels, channels) : null;
    return bytes && { width, height, channels, bytes };
  } catch {
    return null;
  }
}

/** Undoes the filters of the rows, each of which begins with the number of its filter; null for an unknown filter. */
function unfilter(filtered: Uint8Array, rowBytes: number, channels: number): Uint8Array | null {
  const height = filtered.length / (rowBytes + 1);
  const bytes = new Uint8Array(rowBytes * height);
  for (let row = 0; row < height; row += 1) {
    const from = row * (rowBytes + 1);
    const filter = filtered[from];
    if (filter === undefined || filter > 4) return null;
    for (let at = 0; at < rowBytes; at += 1) {
      const to = row * rowBytes + at;
      const left = at < channels ? 0 : (bytes[to - channels] ?? 0);
      const up = row === 0 ? 0 : (bytes[to - rowBytes] ?? 0);
      const upLeft = row === 0 || at < channels ? 0 : (bytes[to - rowBytes - channels] ?? 0);
      bytes[to] = (filtered[from + 1 + at] ?? 0) + predict(filter, left, up, upLeft);
    }
  }
  return bytes;
}

/** Source: RFC 2083, section 6. */
function predict(filter: number, left: number, up: number, upLeft: number): number {
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  const estimate = left + up - upLeft;
  const [a, b, c] = [Math.abs(estimate - left), Math.abs(estimate - up), Math.abs(estimate - upLeft)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : upLeft;
}
