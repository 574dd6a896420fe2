import { KIB } from "../format-bytes.ts";

/** Most values in a frame, keys of maps included: as many numbers as a Cargo may put out, and a little more. */
const MAX_VALUES = 2_100_000;
/** Most maps and arrays among them: an empty map is one byte on the wire, and 56 in memory. */
const MAX_CONTAINERS = 500_000;
/** A smaller frame cannot take much memory, and is not looked at. */
const MIN_COUNTED_BYTES = 64 * KIB;

/**
 * Of the formats from 0xc4 to 0xdf: bytes of the length that follows the first byte, and bytes that follow whatever the length says.
 * Source: the MessagePack specification, "Formats".
 */
const FORMATS: readonly (readonly [lengthBytes: number, otherBytes: number])[] = [
  ...([
    [1, 0],
    [2, 0],
    [4, 0],
  ] as const), // bin
  ...([
    [1, 1],
    [2, 1],
    [4, 1],
  ] as const), // ext
  ...([
    [0, 4],
    [0, 8],
  ] as const), // float
  ...([
    [0, 1],
    [0, 2],
    [0, 4],
    [0, 8],
  ] as const), // uint
  ...([
    [0, 1],
    [0, 2],
    [0, 4],
    [0, 8],
  ] as const), // int
  ...([
    [0, 2],
    [0, 3],
    [0, 5],
    [0, 9],
    [0, 17],
  ] as const), // fixext
  ...([
    [1, 0],
    [2, 0],
    [4, 0],
  ] as const), // str
  ...([
    [0, 2],
    [0, 4],
    [0, 2],
    [0, 4],
  ] as const), // array, map: their members follow as values
];

/**
 * True for a frame whose values would take far more memory than its bytes. It looks at the first bytes of each value alone, and stops
 * at the limit. What is no MessagePack is found by those who unpack it.
 */
export function hasTooManyValues(frame: Uint8Array): boolean {
  if (frame.length < MIN_COUNTED_BYTES) return false;
  let containers = 0;
  let at = 0;
  for (let values = 1; at < frame.length; values += 1) {
    const first = frame[at] as number;
    if ((first >= 0x80 && first <= 0x9f) || (first >= 0xdc && first <= 0xdf)) containers += 1;
    if (values > MAX_VALUES || containers > MAX_CONTAINERS) return true;
    at += sizeOf(frame, at, first);
  }
  return false;
}

/** Bytes of the value at `at`, without the members of a map or an array. */
function sizeOf(frame: Uint8Array, at: number, first: number): number {
  if (first >= 0xa0 && first <= 0xbf) return 1 + (first & 0x1f);
  const format = first >= 0xc4 ? FORMATS[first - 0xc4] : undefined;
  if (format === undefined) return 1;
  const [lengthBytes, otherBytes] = format;
  let length = 0;
  for (let index = 1; index <= lengthBytes; index += 1) length = length * 256 + (frame[at + index] ?? 0);
  return 1 + lengthBytes + otherBytes + length;
}
