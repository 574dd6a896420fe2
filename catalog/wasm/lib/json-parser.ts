import { Bytes, putCodePoint } from "./bytes";
import { fail } from "./fail";
import { JsonKind, JsonValue } from "./json-value";
import { Text } from "./text";
import { countCodePoints, isSurrogate } from "./utf8";

/** Limit of nesting: each level takes stack. */
const MAX_DEPTH = 256;

/**
 * Reads a JSON text (RFC 8259). If `source` is not JSON, the job fails with line and column.
 * A string with half a surrogate pair is an error, because UTF-8 cannot represent it.
 * @param source validated UTF-8.
 * @param title name of `source` in messages.
 */
export function parseJson(source: Text, title: string): JsonValue {
  const parser = new JsonParser(source, title);
  const value = parser.value(0);
  parser.skipSpace();
  if (parser.at < source.length) parser.stop<bool>("something follows after the value");
  return value;
}

export class JsonParser {
  at: i32 = 0;
  private source: Text;
  private title: string;
  /** The quote character of strings. */
  private quote: u32;

  constructor(source: Text, title: string, quote: u32 = 0x22) {
    this.source = source;
    this.title = title;
    this.quote = quote;
  }

  /** @param depth number of lists and objects around the value. */
  value(depth: i32): JsonValue {
    this.skipSpace();
    const first = this.source.at(this.at);
    if (first == 0x22 /* " */) return new JsonValue(JsonKind.Text, this.string());
    if (first == 0x2d /* - */ || isDigit(first)) return new JsonValue(JsonKind.Number, this.number());
    if (first == 0x7b /* { */) return this.object(depth);
    if (first == 0x5b /* [ */) return this.list(depth);
    if (this.takeWord("true")) return new JsonValue(JsonKind.True, this.source);
    if (this.takeWord("false")) return new JsonValue(JsonKind.False, this.source);
    if (this.takeWord("null")) return new JsonValue(JsonKind.Null, this.source);
    return this.stop<JsonValue>("a value is expected");
  }

  skipSpace(): void {
    while (true) {
      const byte = this.source.at(this.at);
      if (byte != 0x20 && byte != 0x0a && byte != 0x0d && byte != 0x09) return;
      this.at++;
    }
  }

  stop<T>(reason: string): T {
    const end = min(this.at, this.source.length);
    let line = 1;
    let lineStart = 0;
    for (let at = 0; at < end; at++) {
      if (this.source.at(at) != 0x0a) continue;
      line++;
      lineStart = at + 1;
    }
    const column = countCodePoints(this.source.slice(lineStart, end)) + 1;
    const problem = this.at >= this.source.length ? "it ends too early" : reason;
    return fail<T>(`${this.title} is not JSON: ${problem} (line ${line}, column ${column})`);
  }

  private list(depth: i32): JsonValue {
    const list = new JsonValue(JsonKind.List, this.source);
    this.enter(depth);
    if (this.take(0x5d)) return list;
    do list.items.push(this.value(depth + 1));
    while (this.goesOn(0x5d, "a comma or ] is expected"));
    return list;
  }

  private object(depth: i32): JsonValue {
    const object = new JsonValue(JsonKind.Object, this.source);
    this.enter(depth);
    if (this.take(0x7d)) return object;
    do {
      this.skipSpace();
      if (this.source.at(this.at) != 0x22) this.stop<bool>("a name in double quotes is expected");
      const name = this.string();
      if (!this.take(0x3a)) this.stop<bool>("a colon is expected");
      object.set(name, this.value(depth + 1));
    } while (this.goesOn(0x7d, "a comma or } is expected"));
    return object;
  }

  private enter(depth: i32): void {
    if (depth == MAX_DEPTH) this.stop<bool>("lists and objects are nested deeper than 256");
    this.at++;
  }

  private goesOn(end: u32, reason: string): bool {
    if (this.take(0x2c)) return true;
    return this.take(end) ? false : this.stop<bool>(reason);
  }

  private take(byte: u32): bool {
    this.skipSpace();
    if (this.at >= this.source.length || this.source.at(this.at) != byte) return false;
    this.at++;
    return true;
  }

  private takeWord(word: string): bool {
    if (!this.source.has(word, this.at)) return false;
    this.at += word.length;
    return true;
  }

  private number(): Text {
    const start = this.at;
    if (this.source.at(this.at) == 0x2d) this.at++;
    if (this.source.at(this.at) == 0x30) this.at++;
    else this.digits();
    if (this.source.at(this.at) == 0x2e) {
      this.at++;
      this.digits();
    }
    if ((this.source.at(this.at) | 0x20) == 0x65 /* e */) {
      this.at++;
      const sign = this.source.at(this.at);
      if (sign == 0x2b || sign == 0x2d) this.at++;
      this.digits();
    }
    return this.source.slice(start, this.at);
  }

  private digits(): void {
    if (!isDigit(this.source.at(this.at))) this.stop<bool>("a digit is expected");
    while (isDigit(this.source.at(this.at))) this.at++;
  }

  /** The string that begins at `at`. Without escapes it is a slice of the source. */
  string(): Text {
    const start = ++this.at;
    this.plain();
    if (this.source.at(this.at) == this.quote) return this.source.slice(start, this.at++);
    const bytes = new Bytes(this.endOfString() - start);
    bytes.putPart(this.source, start, this.at);
    while (this.source.at(this.at) == 0x5c) {
      this.at++;
      this.escape(bytes);
      const from = this.at;
      this.plain();
      bytes.putPart(this.source, from, this.at);
    }
    this.at++;
    return bytes.text();
  }

  /** Offset of the closing quote, to allocate no more than needed. */
  private endOfString(): i32 {
    let end = this.at;
    while (end < this.source.length && this.source.at(end) != this.quote) end += this.source.at(end) == 0x5c ? 2 : 1;
    return end;
  }

  /** Moves to the next quote or backslash. */
  private plain(): void {
    while (true) {
      const byte = this.source.at(this.at);
      if (byte == this.quote || byte == 0x5c) return;
      if (byte < 0x20) this.stop<bool>("a control character in a text must be escaped");
      this.at++;
    }
  }

  private escape(bytes: Bytes): void {
    const letter = this.source.at(this.at);
    if (letter == 0x75 /* u */) return putCodePoint(bytes, this.unicodeEscape());
    if (letter == this.quote || letter == 0x5c || letter == 0x2f) bytes.put(letter);
    else if (letter == 0x6e /* n */) bytes.put(0x0a);
    else if (letter == 0x74 /* t */) bytes.put(0x09);
    else if (letter == 0x72 /* r */) bytes.put(0x0d);
    else if (letter == 0x62 /* b */) bytes.put(0x08);
    else if (letter == 0x66 /* f */) bytes.put(0x0c);
    else this.stop<bool>("there is no such escape");
    this.at++;
  }

  private unicodeEscape(): u32 {
    const start = this.at - 1;
    const unit = this.hex();
    if (!isSurrogate(unit)) return unit;
    if (unit < 0xdc00 && this.source.at(this.at) == 0x5c && this.source.at(this.at + 1) == 0x75) {
      this.at++;
      const low = this.hex();
      if (low >= 0xdc00 && low <= 0xdfff) return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    }
    this.at = start;
    return this.stop<u32>("unpaired surrogate");
  }

  /** Four hexadecimal digits after the `u`. */
  private hex(): u32 {
    let unit: u32 = 0;
    for (let count = 0; count < 4; count++) {
      const digit = hexDigit(this.source.at(++this.at));
      if (digit < 0) this.stop<bool>("four hexadecimal digits are expected");
      unit = unit * 16 + (digit as u32);
    }
    this.at++;
    return unit;
  }
}

export function isDigit(byte: u32): bool {
  return byte >= 0x30 && byte <= 0x39;
}

/** Returns the value of a hexadecimal digit, or -1. */
export function hexDigit(byte: u32): i32 {
  if (isDigit(byte)) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
