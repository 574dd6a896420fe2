import { casemap } from "util/casemap";
import { isAlpha, isSpace } from "util/string";
import { isDigit } from "./json-parser";

/** End of the tables: above are only letters without case (CJK). */
const END_OF_TABLES: u32 = 0x20000;

/** Letters of all scripts, with their combining marks. */
export function isLetter(codePoint: u32): bool {
  return isAlpha(codePoint) || isCombining(codePoint);
}

export function isWordCharacter(codePoint: u32): bool {
  return isLetter(codePoint) || (codePoint < 0x80 && isDigit(codePoint)) || codePoint == 0x5f;
}

export function isWhiteSpace(codePoint: u32): bool {
  return isSpace(codePoint);
}

/** Lower case, one character for each character. */
export function toLower(codePoint: u32): u32 {
  if (codePoint < 0x80) return codePoint - 0x41 < 26 ? codePoint | 0x20 : codePoint;
  return codePoint < END_OF_TABLES ? (casemap(codePoint, 0) as u32) : codePoint;
}

/** Combining diacritical marks. */
export function isCombining(codePoint: u32): bool {
  return (
    isIn(codePoint, 0x300, 0x36f) ||
    isIn(codePoint, 0x1ab0, 0x1aff) ||
    isIn(codePoint, 0x1dc0, 0x1dff) ||
    isIn(codePoint, 0x20d0, 0x20ff) ||
    isIn(codePoint, 0xfe20, 0xfe2f)
  );
}

/** Columns of a terminal: 0 for marks, joiners and variation selectors, 2 for East Asian wide characters and emoji, otherwise 1. */
export function widthOf(codePoint: u32): i32 {
  if (codePoint < 0x300) return 1;
  if (isCombining(codePoint) || isIn(codePoint, 0x200b, 0x200f) || isIn(codePoint, 0xfe00, 0xfe0f)) return 0;
  const isWide =
    isIn(codePoint, 0x1100, 0x115f) ||
    isIn(codePoint, 0x2e80, 0xa4cf) ||
    isIn(codePoint, 0xac00, 0xd7a3) ||
    isIn(codePoint, 0xf900, 0xfaff) ||
    isIn(codePoint, 0xfe30, 0xfe6f) ||
    isIn(codePoint, 0xff00, 0xff60) ||
    isIn(codePoint, 0xffe0, 0xffe6) ||
    isIn(codePoint, 0x1f300, 0x1f64f) ||
    isIn(codePoint, 0x1f900, 0x1f9ff) ||
    isIn(codePoint, 0x20000, 0x3fffd);
  return isWide ? 2 : 1;
}

function isIn(codePoint: u32, first: u32, last: u32): bool {
  return codePoint - first <= last - first;
}
