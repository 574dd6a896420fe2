import { Text } from "./text";

/** Offset of the first byte that is not UTF-8 (RFC 3629: no overlong forms, no surrogates, up to U+10FFFF), or -1. */
export function invalidUtf8(text: Text): i32 {
  for (let at = 0; at < text.length;) {
    const first = text.at(at);
    const length = lengthOf(first);
    if (length == 0) return at;
    for (let next = 1; next < length; next++) if ((text.at(at + next) & 0xc0) != 0x80) return at;
    if (length > 1) {
      const codePoint = codePointAt(text, at);
      const isOverlong = codePoint < (length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000);
      if (isOverlong || isSurrogate(codePoint) || codePoint > 0x10ffff) return at;
    }
    at += length;
  }
  return -1;
}

export function isSurrogate(codePoint: u32): bool {
  return codePoint >= 0xd800 && codePoint <= 0xdfff;
}

/** Length of the character that begins with byte `first`; 0 if none can. */
export function lengthOf(first: u32): i32 {
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return 2;
  if (first < 0xf0) return 3;
  return first < 0xf5 ? 4 : 0;
}

/** The character at `at` of validated text; 0 past the end. */
export function codePointAt(text: Text, at: i32): u32 {
  const first = text.at(at);
  if (first < 0x80) return first;
  const second = text.at(at + 1) & 0x3f;
  if (first < 0xe0) return ((first & 0x1f) << 6) | second;
  const third = text.at(at + 2) & 0x3f;
  if (first < 0xf0) return ((first & 0x0f) << 12) | (second << 6) | third;
  return ((first & 0x07) << 18) | (second << 12) | (third << 6) | (text.at(at + 3) & 0x3f);
}

/** The character before `at` of validated text; 0 at the start. */
export function codePointBefore(text: Text, at: i32): u32 {
  let start = at - 1;
  while (start > 0 && (text.at(start) & 0xc0) == 0x80) start--;
  return codePointAt(text, start);
}

/** Number of code points of validated text. */
export function countCodePoints(text: Text): i32 {
  let count = 0;
  for (let at = 0; at < text.length; at++) if ((text.at(at) & 0xc0) != 0x80) count++;
  return count;
}
