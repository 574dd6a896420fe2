import { Bytes } from "./bytes";
import { fail } from "./fail";
import { Text } from "./text";

/**
 * Reads CSV records (RFC 4180): fields in double quotes may contain delimiters, line ends and doubled quotes. Lines end with CRLF, LF
 * or CR; a byte order mark at the start and empty lines are skipped. A quote inside a field that does not begin with one is an
 * ordinary character.
 */
export class CsvReader {
  /** Line number of the last record read, from 1. */
  line: i32 = 0;
  private csv: Text;
  private delimiter: u32;
  private at: i32 = 0;
  private nextLine: i32 = 1;

  constructor(csv: Text, delimiter: u32) {
    this.csv = csv;
    this.delimiter = delimiter;
    if (csv.at(0) == 0xef && csv.at(1) == 0xbb && csv.at(2) == 0xbf) this.at = 3;
  }

  /** The next record; null after the last. */
  read(): Text[] | null {
    while (this.takeLineEnd()) continue;
    if (this.at == this.csv.length) return null;
    this.line = this.nextLine;
    const fields: Text[] = [];
    while (true) {
      fields.push(this.csv.at(this.at) == 0x22 ? this.quoted() : this.plain());
      if (this.at == this.csv.length || this.takeLineEnd()) return fields;
      if (this.csv.at(this.at) != this.delimiter)
        fail<bool>(`Line ${this.nextLine}: after a closing quote a delimiter or the end of the line is expected`);
      this.at++;
    }
  }

  private plain(): Text {
    const start = this.at;
    while (this.at < this.csv.length) {
      const byte = this.csv.at(this.at);
      if (byte == this.delimiter || byte == 0x0a || byte == 0x0d) break;
      this.at++;
    }
    return this.csv.slice(start, this.at);
  }

  private quoted(): Text {
    const start = ++this.at;
    const end = this.closingQuote();
    if (this.csv.find(0x22, start) == end) return this.csv.slice(start, end);
    const bytes = new Bytes(end - start);
    for (let at = start; at < end; at++) {
      const byte = this.csv.at(at);
      bytes.put(byte);
      if (byte == 0x22) at++;
    }
    return bytes.text();
  }

  /** Returns the field's end and moves past it. */
  private closingQuote(): i32 {
    const opened = this.nextLine;
    while (this.at < this.csv.length) {
      const byte = this.csv.at(this.at++);
      if (byte == 0x0a || (byte == 0x0d && this.csv.at(this.at) != 0x0a)) this.nextLine++;
      if (byte != 0x22) continue;
      if (this.csv.at(this.at) != 0x22) return this.at - 1;
      this.at++;
    }
    return fail<i32>(`Line ${opened}: a quote is opened and never closed`);
  }

  private takeLineEnd(): bool {
    const byte = this.csv.at(this.at);
    if (this.at == this.csv.length || (byte != 0x0a && byte != 0x0d)) return false;
    this.at += byte == 0x0d && this.csv.at(this.at + 1) == 0x0a ? 2 : 1;
    this.nextLine++;
    return true;
  }
}
