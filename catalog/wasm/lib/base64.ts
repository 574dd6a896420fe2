import { Bytes } from "./bytes";
import { fail } from "./fail";
import { Text } from "./text";

const PAD: u32 = 0x3d;

/** RFC 4648, section 4, or section 5 with `isUrl`. */
export function toBase64(bytes: Text, isUrl: bool, isPadded: bool): Text {
  const encoded = new Bytes(((bytes.length + 2) / 3) * 4);
  for (let at = 0; at < bytes.length; at += 3) {
    const group = (bytes.at(at) << 16) | (bytes.at(at + 1) << 8) | bytes.at(at + 2);
    const left = min(3, bytes.length - at);
    for (let digit = 0; digit < 4; digit++) {
      if (digit <= left) encoded.put(digitOf((group >> (18 - 6 * digit)) & 63, isUrl));
      else if (isPadded) encoded.put(PAD);
    }
  }
  return encoded.text();
}

/**
 * Accepts both alphabets, but not mixed, with or without padding; skips white space. Anything else fails the job: other characters,
 * a single last digit, leftover bits that are not zero, misplaced padding.
 */
export function fromBase64(encoded: Text, title: string): Text {
  const bytes = new Bytes((encoded.length / 4) * 3 + 3);
  let digits = 0;
  let pads = 0;
  let group: u32 = 0;
  let alphabets: u32 = 0;
  for (let at = 0; at < encoded.length; at++) {
    const byte = encoded.at(at);
    if (byte == 0x20 || (byte >= 0x09 && byte <= 0x0d)) continue;
    if (byte == PAD) {
      pads++;
      continue;
    }
    const value = valueOf(byte);
    alphabets |= byte == 0x2b || byte == 0x2f ? 1 : byte == 0x2d || byte == 0x5f ? 2 : 0;
    if (value < 0 || pads > 0 || alphabets == 3) fail<bool>(`${title} is not base64 at byte ${at + 1}`);
    group = (group << 6) | (value as u32);
    if (++digits % 4 == 0) putGroup(bytes, group, 3);
  }
  const rest = digits % 4;
  if (rest == 1 || (pads > 0 && (rest == 0 || rest + pads != 4)))
    fail<bool>(`${title} is not base64: it ends too early, or its padding is wrong`);
  if (rest > 1) {
    group <<= 6 * (4 - rest);
    if ((rest == 2 ? group & 0xffff : group & 0xff) != 0) fail<bool>(`${title} is not base64: bits are left over`);
    putGroup(bytes, group, rest - 1);
  }
  return bytes.text();
}

function putGroup(bytes: Bytes, group: u32, count: i32): void {
  for (let at = 0; at < count; at++) bytes.put((group >> (16 - 8 * at)) & 0xff);
}

function digitOf(value: u32, isUrl: bool): u32 {
  if (value < 26) return 0x41 + value;
  if (value < 52) return 0x61 + value - 26;
  if (value < 62) return 0x30 + value - 52;
  return value == 62 ? (isUrl ? 0x2d : 0x2b) : isUrl ? 0x5f : 0x2f;
}

function valueOf(digit: u32): i32 {
  if (digit >= 0x41 && digit <= 0x5a) return digit - 0x41;
  if (digit >= 0x61 && digit <= 0x7a) return digit - 0x61 + 26;
  if (digit >= 0x30 && digit <= 0x39) return digit - 0x30 + 52;
  if (digit == 0x2b || digit == 0x2d) return 62;
  return digit == 0x2f || digit == 0x5f ? 63 : -1;
}
