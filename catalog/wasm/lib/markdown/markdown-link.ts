import { Bytes } from "../bytes";
import { Text } from "../text";

/** Limit of nested parentheses in an address. */
const MAX_PARENTHESES = 32;

export class LinkTarget {
  address: Text;
  title: Text | null;
  /** Offset after the closing parenthesis. */
  end: i32;

  constructor(address: Text, title: Text | null, end: i32) {
    this.address = address;
    this.title = title;
    this.end = end;
  }
}

/** Reads `(address "title")` at `at`; null if there is no link. */
export function readLinkTarget(text: Text, at: i32): LinkTarget | null {
  if (text.at(at) != 0x28) return null;
  const start = skipSpace(text, at + 1);
  const isBracketed = text.at(start) == 0x3c;
  const end = isBracketed ? endOfBracketed(text, start + 1) : endOfAddress(text, start);
  if (end < 0) return null;
  const address = unescape(text.slice(isBracketed ? start + 1 : start, end));
  const behind = isBracketed ? end + 1 : end;
  let close = skipSpace(text, behind);
  let title: Text | null = null;
  const quote = text.at(close);
  if (close > behind && (quote == 0x22 || quote == 0x27 || quote == 0x28)) {
    const last = endOfTitle(text, close + 1, quote == 0x28 ? 0x29 : quote);
    if (last < 0) return null;
    title = unescape(text.slice(close + 1, last));
    close = skipSpace(text, last + 1);
  }
  return text.at(close) == 0x29 ? new LinkTarget(address, title, close + 1) : null;
}

function endOfBracketed(text: Text, from: i32): i32 {
  for (let at = from; at < text.length; at++) {
    const byte = text.at(at);
    if (byte == 0x3e) return at;
    if (byte == 0x3c || byte == 0x0a) return -1;
    if (byte == 0x5c) at++;
  }
  return -1;
}

function endOfAddress(text: Text, from: i32): i32 {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const byte = text.at(at);
    if (byte <= 0x20) return depth == 0 ? at : -1;
    if (byte == 0x28 && ++depth > MAX_PARENTHESES) return -1;
    if (byte == 0x29 && --depth < 0) return at;
    if (byte == 0x5c && text.at(at + 1) > 0x20) at++;
  }
  return -1;
}

function endOfTitle(text: Text, from: i32, quote: u32): i32 {
  for (let at = from; at < text.length; at++) {
    const byte = text.at(at);
    if (byte == quote) return at;
    if (byte == 0x28 && quote == 0x29) return -1;
    if (byte == 0x5c) at++;
  }
  return -1;
}

function skipSpace(text: Text, from: i32): i32 {
  let at = from;
  while (text.at(at) == 0x20 || text.at(at) == 0x0a) at++;
  return at;
}

/** Removes the backslashes of escapes. */
function unescape(text: Text): Text {
  if (text.find(0x5c, 0) == text.length) return text;
  const plain = new Bytes(text.length);
  for (let at = 0; at < text.length; at++) {
    const next = text.at(at + 1);
    const isSign = next > 0x20 && next < 0x7f && !((next | 0x20) - 0x61 < 26 || next - 0x30 < 10);
    if (text.at(at) == 0x5c && isSign) at++;
    plain.put(text.at(at));
  }
  return plain.text();
}
