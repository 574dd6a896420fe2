import { isDigit } from "../json-parser";
import { Text } from "../text";

/** Lines with a larger indent are code. */
export const CODE_INDENT = 4;

export function indentOf(line: Text): i32 {
  let indent = 0;
  while (line.at(indent) == 0x20) indent++;
  return indent;
}

export function isBlank(line: Text): bool {
  for (let at = 0; at < line.length; at++) if (line.at(at) != 0x20 && line.at(at) != 0x09) return false;
  return true;
}

export function trim(line: Text): Text {
  let from = 0;
  let to = line.length;
  while (from < to && isSpace(line.at(from))) from++;
  while (to > from && isSpace(line.at(to - 1))) to--;
  return line.slice(from, to);
}

function isSpace(byte: u32): bool {
  return byte == 0x20 || byte == 0x09;
}

/** Level of `# Heading`, or 0. */
export function headingLevel(line: Text): i32 {
  const indent = indentOf(line);
  const level = runLength(line, indent);
  if (indent >= CODE_INDENT || line.at(indent) != 0x23 || level > 6) return 0;
  const next = line.at(indent + level);
  return next == 0 || isSpace(next) ? level : 0;
}

/** Length of the run of equal bytes that begins at `at`. */
export function runLength(line: Text, at: i32): i32 {
  let end = at;
  while (end < line.length && line.at(end) == line.at(at)) end++;
  return end - at;
}

/** Length of the run of ``` or ~~~ that opens code, or 0. */
export function fenceLength(line: Text): i32 {
  const indent = indentOf(line);
  const byte = line.at(indent);
  if (indent >= CODE_INDENT || (byte != 0x60 && byte != 0x7e)) return 0;
  const length = runLength(line, indent);
  const isSpan = byte == 0x60 && line.find(0x60, indent + length) < line.length;
  return length < 3 || isSpan ? 0 : length;
}

/** `***`, `---` or `___`, also with spaces between. */
export function isRule(line: Text): bool {
  const indent = indentOf(line);
  const byte = line.at(indent);
  if (indent >= CODE_INDENT || (byte != 0x2a && byte != 0x2d && byte != 0x5f)) return false;
  let count = 0;
  for (let at = indent; at < line.length; at++) {
    if (line.at(at) == byte) count++;
    else if (!isSpace(line.at(at))) return false;
  }
  return count >= 3;
}

/** Level of the heading that a line of `=` or `-` makes of the paragraph above it, or 0. */
export function underlineLevel(line: Text): i32 {
  const indent = indentOf(line);
  const byte = line.at(indent);
  if (indent >= CODE_INDENT || (byte != 0x3d && byte != 0x2d)) return 0;
  if (!isBlank(line.slice(indent + runLength(line, indent), line.length))) return 0;
  return byte == 0x3d ? 1 : 2;
}

export function isQuote(line: Text): bool {
  const indent = indentOf(line);
  return indent < CODE_INDENT && line.at(indent) == 0x3e;
}

/** The marker of a list item. */
export class ItemMarker {
  /** The bullet, or the character after the number. Equal for all items of a list. */
  sign: u32 = 0;
  /** The number, or -1 for a bullet. */
  number: i32 = -1;
  /** Column where the item's text begins, in this and the following lines. */
  offset: i32 = 0;
  isEmpty: bool = false;
}

export function readItemMarker(line: Text): ItemMarker | null {
  const indent = indentOf(line);
  if (indent >= CODE_INDENT || isRule(line)) return null;
  const marker = new ItemMarker();
  let at = indent;
  if (isDigit(line.at(at))) {
    marker.number = 0;
    while (isDigit(line.at(at)) && at - indent < 9) marker.number = marker.number * 10 + (line.at(at++) - 0x30);
    if (line.at(at) != 0x2e && line.at(at) != 0x29) return null;
  } else if (line.at(at) != 0x2d && line.at(at) != 0x2b && line.at(at) != 0x2a) return null;
  marker.sign = line.at(at++);
  if (at < line.length && line.at(at) != 0x20) return null;
  const rest = line.slice(at, line.length);
  marker.isEmpty = isBlank(rest);
  const spaces = indentOf(rest);
  marker.offset = at + (marker.isEmpty || spaces > CODE_INDENT ? 1 : spaces);
  return marker;
}
