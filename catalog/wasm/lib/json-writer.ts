import { Bytes } from "./bytes";
import { JsonKind, JsonValue } from "./json-value";
import { Text } from "./text";

/** Writes JSON on one line, or indented. Adds commas, colons and line ends itself. */
export class JsonWriter {
  private bytes: Bytes;
  /** Spaces for each level; 0: one line. */
  private indent: i32;
  private sortNames: bool;
  /** The quote character of strings. */
  private quote: u32;
  private depth: i32 = 0;
  private isFirst: bool = true;
  private hasName: bool = false;

  constructor(bytes: Bytes, indent: i32 = 0, sortNames: bool = false, quote: u32 = 0x22) {
    this.bytes = bytes;
    this.indent = indent;
    this.sortNames = sortNames;
    this.quote = quote;
  }

  beginObject(): void {
    this.begin(0x7b);
  }

  endObject(): void {
    this.end(0x7d);
  }

  beginList(): void {
    this.begin(0x5b);
  }

  endList(): void {
    this.end(0x5d);
  }

  name(name: Text): void {
    this.next();
    this.quoted(name);
    this.bytes.put(0x3a);
    if (this.indent > 0) this.bytes.put(0x20);
    this.hasName = true;
  }

  text(text: Text): void {
    this.next();
    this.quoted(text);
  }

  integer(value: i64): void {
    this.next();
    this.bytes.putInteger(value);
  }

  /** Puts text that is already JSON: a number, true, false, null. */
  literal(text: Text): void {
    this.next();
    this.bytes.putText(text);
  }

  word(word: string): void {
    this.next();
    this.bytes.putString(word);
  }

  nameText(name: string, text: Text): void {
    this.name(Text.of(name));
    this.text(text);
  }

  nameString(name: string, words: string): void {
    this.nameText(name, Text.of(words));
  }

  nameList(name: string): void {
    this.name(Text.of(name));
    this.beginList();
  }

  nameInteger(name: string, value: i64): void {
    this.name(Text.of(name));
    this.integer(value);
  }

  /** `part` / `whole` with four decimals; 1 if `whole` is 0. */
  nameRatio(name: string, part: i64, whole: i64): void {
    const tenThousandths = whole == 0 ? 10_000 : (part * 20_000 + whole) / (whole * 2);
    this.name(Text.of(name));
    this.next();
    this.bytes.putInteger(tenThousandths / 10_000);
    this.bytes.put(0x2e);
    for (let unit: i64 = 1_000; unit > 0; unit /= 10) this.bytes.putInteger((tenThousandths / unit) % 10);
  }

  value(value: JsonValue): void {
    switch (value.kind) {
      case JsonKind.Text:
        return this.text(value.text);
      case JsonKind.Number:
        return this.literal(value.text);
      case JsonKind.True:
        return this.word("true");
      case JsonKind.False:
        return this.word("false");
      case JsonKind.List: {
        this.beginList();
        for (let at = 0; at < value.items.length; at++) this.value(value.items[at]);
        return this.endList();
      }
      case JsonKind.Object: {
        this.beginObject();
        const order = this.sortNames ? sortedNames(value) : value.names;
        for (let at = 0; at < order.length; at++) {
          this.name(order[at]);
          this.value(this.sortNames ? value.get(order[at])! : value.items[at]);
        }
        return this.endObject();
      }
      default:
        return this.word("null");
    }
  }

  private begin(bracket: u32): void {
    this.next();
    this.bytes.put(bracket);
    this.depth++;
    this.isFirst = true;
  }

  private end(bracket: u32): void {
    this.depth--;
    if (!this.isFirst) this.newLine();
    this.bytes.put(bracket);
    this.isFirst = false;
  }

  /** Puts the separator before the next value. */
  private next(): void {
    if (this.hasName) {
      this.hasName = false;
      this.isFirst = false;
      return;
    }
    if (!this.isFirst) this.bytes.put(0x2c);
    if (this.depth > 0) this.newLine();
    this.isFirst = false;
  }

  private newLine(): void {
    if (this.indent == 0) return;
    this.bytes.put(0x0a);
    this.bytes.putRepeated(0x20, this.depth * this.indent);
  }

  private quoted(text: Text): void {
    this.bytes.put(this.quote);
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      const byte = text.at(at);
      if (byte >= 0x20 && byte != this.quote && byte != 0x5c) continue;
      this.bytes.putPart(text, from, at);
      this.escaped(byte);
      from = at + 1;
    }
    this.bytes.putPart(text, from, text.length);
    this.bytes.put(this.quote);
  }

  /** Short escapes where they exist, like `JSON.stringify`. */
  private escaped(byte: u32): void {
    this.bytes.put(0x5c);
    if (byte == this.quote || byte == 0x5c) return this.bytes.put(byte);
    if (byte == 0x0a) return this.bytes.put(0x6e);
    if (byte == 0x0d) return this.bytes.put(0x72);
    if (byte == 0x09) return this.bytes.put(0x74);
    if (byte == 0x08) return this.bytes.put(0x62);
    if (byte == 0x0c) return this.bytes.put(0x66);
    this.bytes.putString("u00");
    this.bytes.put(0x30 + (byte >> 4));
    this.bytes.put((byte & 15) < 10 ? 0x30 + (byte & 15) : 0x57 + (byte & 15));
  }
}

function sortedNames(object: JsonValue): Text[] {
  return object.names.slice().sort((a, b) => a.compare(b));
}
