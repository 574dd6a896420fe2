import { KIB } from "../format-bytes.ts";

/**
 * Maximum number of values and map keys in a frame, which is slightly more than the numbers that a Cargo may output.
 */
const MAX_VALUES = 2_100_000;
/** Maximum number of maps and arrays among them. An empty map is one byte on the wire and 56 in memory. */
const MAX_CONTAINERS = 500_000;
/** Maximum number of different map keys. 700,000 in 6 MB blocked the event loop for 5 s, 20,000 for 0.04 s. */
const MAX_KEYS = 20_000;
/** Minimum size of frames that are checked. A smaller frame cannot take much memory. */
const MIN_COUNTED_BYTES = 64 * KIB;

/**
 * Formats from 0xc4 to 0xdf: bytes of the length after the first byte, and bytes that follow independently of the
 * length. Source: the MessagePack specification, "Formats".
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
 * Returns whether the values of a frame would take far more memory or time than its bytes. Only the first bytes of each
 * value and the keys of maps are read, and reading stops at a limit. Invalid MessagePack is detected when it is
 * unpacked.
 */
export function hasTooManyValues(frame: Uint8Array): boolean {
  if (frame.length < MIN_COUNTED_BYTES) return false;
  const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
  const keys = new Set<string>();
  /**
   * Remaining values of the enclosing maps and arrays. A map entry counts twice, as a key and as a value. If the number
   * is even, the next value is a key.
   */
  const left: number[] = [];
  const isMap: boolean[] = [];
  let containers = 0;
  let at = 0;
  for (let values = 1; at < frame.length; values += 1) {
    const first = frame[at] as number;
    const size = sizeOf(frame, at, first);
    const depth = left.length - 1;
    if (depth >= 0) {
      const rest = left[depth] as number;
      if (isMap[depth] === true && rest % 2 === 0)
        keys.add(bytes.toString("latin1", at, Math.min(at + size, frame.length)));
      left[depth] = rest - 1;
    }
    const members = membersOf(frame, at, first);
    if (members !== null) {
      containers += 1;
      left.push(members.count);
      isMap.push(members.isMap);
    }
    if (values > MAX_VALUES || containers > MAX_CONTAINERS || keys.size > MAX_KEYS) return true;
    while (left.at(-1) === 0) {
      left.pop();
      isMap.pop();
    }
    at += size;
  }
  return false;
}

/** Returns the number of values after the head of a map or array, including keys; null for any other value. */
function membersOf(frame: Uint8Array, at: number, first: number): { count: number; isMap: boolean } | null {
  if (first >= 0x80 && first <= 0x8f) return { count: 2 * (first & 0x0f), isMap: true };
  if (first >= 0x90 && first <= 0x9f) return { count: first & 0x0f, isMap: false };
  if (first < 0xdc || first > 0xdf) return null;
  const isMap = first >= 0xde;
  const count = numberAt(frame, at + 1, first % 2 === 0 ? 2 : 4);
  return { count: isMap ? 2 * count : count, isMap };
}

/** Returns the bytes of the value at `at`, without the members of a map or array. */
function sizeOf(frame: Uint8Array, at: number, first: number): number {
  if (first >= 0xa0 && first <= 0xbf) return 1 + (first & 0x1f);
  const format = first >= 0xc4 ? FORMATS[first - 0xc4] : undefined;
  if (format === undefined) return 1;
  const [lengthBytes, otherBytes] = format;
  return 1 + lengthBytes + otherBytes + numberAt(frame, at + 1, lengthBytes);
}

function numberAt(frame: Uint8Array, at: number, bytes: number): number {
  let number = 0;
  for (let index = 0; index < bytes; index += 1) number = number * 256 + (frame[at + index] ?? 0);
  return number;
}
