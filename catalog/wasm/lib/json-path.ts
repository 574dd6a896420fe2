import { fail } from "./fail";
import { isDigit, JsonParser } from "./json-parser";
import { Text } from "./text";
import { countCodePoints } from "./utf8";

/** Limit of integers in a path: those that JSON represents exactly (RFC 9535, section 2.1). */
const MAX_INTEGER: i64 = 9007199254740991;

export const enum SelectorKind {
  Name,
  Index,
  Slice,
  All,
}

export class Selector {
  kind: SelectorKind;
  name: Text | null = null;
  /** Index, or start of a slice. */
  start: i64 = 0;
  end: i64 = 0;
  step: i64 = 1;
  hasStart: bool = false;
  hasEnd: bool = false;

  constructor(kind: SelectorKind) {
    this.kind = kind;
  }
}

/** `.name`, `[…]`, or with `isDescendant` the same after `..`. */
export class PathSegment {
  isDescendant: bool = false;
  selectors: Selector[] = [];
}

/**
 * Parses a JSONPath query. Supported of RFC 9535: `$`, `.name`, `.*`, `['name']`, `["name"]`, `[0]`, `[-1]`, `[start:end:step]`, `[*]`,
 * lists of them in one bracket, and `..` before any. Filters (`[?…]`) and functions are refused with a message.
 */
export function parsePath(query: Text): PathSegment[] {
  return new PathParser(query).path();
}

class PathParser {
  private query: Text;
  private at: i32 = 0;

  constructor(query: Text) {
    this.query = query;
  }

  path(): PathSegment[] {
    const segments: PathSegment[] = [];
    this.expect("$", "a query begins with $");
    while (true) {
      const start = this.at;
      this.skipSpace();
      if (this.at == this.query.length) {
        this.at = start;
        if (start < this.query.length) this.stop<bool>("a query ends without space");
        return segments;
      }
      segments.push(this.segment());
    }
  }

  private segment(): PathSegment {
    const segment = new PathSegment();
    segment.isDescendant = this.take("..");
    if (this.take("[")) this.bracket(segment);
    else {
      if (!segment.isDescendant) this.expect(".", "a dot or [ is expected");
      segment.selectors.push(this.take("*") ? new Selector(SelectorKind.All) : this.shorthand());
    }
    return segment;
  }

  private bracket(segment: PathSegment): void {
    do {
      this.skipSpace();
      segment.selectors.push(this.selector());
      this.skipSpace();
    } while (this.take(","));
    this.expect("]", "a comma or ] is expected");
  }

  private selector(): Selector {
    const first = this.query.at(this.at);
    if (first == 0x22 || first == 0x27) return named(this.quotedName(first));
    if (this.take("*")) return new Selector(SelectorKind.All);
    if (first == 0x3f /* ? */) this.stop<bool>("filters are not supported");
    return this.indexOrSlice();
  }

  private indexOrSlice(): Selector {
    const selector = new Selector(SelectorKind.Index);
    if (this.query.at(this.at) != 0x3a) {
      selector.start = this.integer();
      selector.hasStart = true;
      const end = this.at;
      this.skipSpace();
      if (this.query.at(this.at) != 0x3a) {
        this.at = end;
        return selector;
      }
    }
    this.at++;
    selector.kind = SelectorKind.Slice;
    this.skipSpace();
    if (this.isInteger()) {
      selector.end = this.integer();
      selector.hasEnd = true;
      this.skipSpace();
    }
    if (!this.take(":")) return selector;
    this.skipSpace();
    if (this.isInteger()) selector.step = this.integer();
    return selector;
  }

  private isInteger(): bool {
    const byte = this.query.at(this.at);
    return byte == 0x2d || isDigit(byte);
  }

  private integer(): i64 {
    const start = this.at;
    const isNegative = this.take("-");
    let value: i64 = 0;
    const digits = this.at;
    while (isDigit(this.query.at(this.at))) {
      value = value * 10 + (this.query.at(this.at++) - 0x30);
      if (value > MAX_INTEGER) this.stop<bool>("the number is too large");
    }
    const hasLeadingZero = this.query.at(digits) == 0x30 && (this.at - digits > 1 || isNegative);
    if (this.at == digits || hasLeadingZero) {
      this.at = start;
      this.stop<bool>("a name in quotes, a number, a slice or * is expected");
    }
    return isNegative ? -value : value;
  }

  /** A name after a dot: letters, digits, `_` and non-ASCII characters, not starting with a digit. */
  private shorthand(): Selector {
    const start = this.at;
    while (this.at < this.query.length) {
      const byte = this.query.at(this.at);
      const isLetter = (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
      const isName = isLetter || byte == 0x5f || byte >= 0x80 || (isDigit(byte) && this.at > start);
      if (!isName) break;
      this.at++;
    }
    if (this.at == start) this.stop<bool>("a name or * is expected");
    return named(this.query.slice(start, this.at));
  }

  /** JSON's escapes, and `\'` in single quotes. */
  private quotedName(quote: u32): Text {
    const parser = new JsonParser(this.query, "The name in the query", quote);
    parser.at = this.at;
    const name = parser.string();
    this.at = parser.at;
    return name;
  }

  private skipSpace(): void {
    while (this.at < this.query.length) {
      const byte = this.query.at(this.at);
      if (byte != 0x20 && byte != 0x09 && byte != 0x0a && byte != 0x0d) return;
      this.at++;
    }
  }

  private take(words: string): bool {
    if (!this.query.has(words, this.at)) return false;
    this.at += words.length;
    return true;
  }

  private expect(words: string, reason: string): void {
    if (!this.take(words)) this.stop<bool>(reason);
  }

  private stop<T>(reason: string): T {
    return fail<T>(`The query is not a path: ${reason} (column ${countCodePoints(this.query.slice(0, this.at)) + 1})`);
  }
}

function named(name: Text): Selector {
  const selector = new Selector(SelectorKind.Name);
  selector.name = name;
  return selector;
}
