import { Bytes } from "./bytes";
import { fail } from "./fail";
import { parseJson } from "./json-parser";
import { JsonKind, JsonValue } from "./json-value";
import { JsonWriter } from "./json-writer";
import { iovec, write } from "./stdio";
import { Text } from "./text";
import { invalidUtf8 } from "./utf8";
import { fd_read } from "./wasi_snapshot_preview1";

export { abort } from "./fail";

/** Limit of the input line. A job's input is at most 256 KB; the rest allows for unnecessary escapes. */
const MAX_INPUT_BYTES = 512 * 1024;
const CHUNK_BYTES = 64 * 1024;
const NEWLINE: u8 = 0x0a;

/** The input of a job: one object. A missing field without a default, or one of another type, fails the job and is named. */
export class JobInput {
  private fields: JsonValue;

  constructor() {
    const line = readLine();
    if (line.length == 0) fail<bool>("The input is empty: it must be one line of JSON");
    const bad = invalidUtf8(line);
    if (bad >= 0) fail<bool>(`The input is not UTF-8 (byte ${bad + 1})`);
    this.fields = parseJson(line, "The input");
    if (this.fields.kind != JsonKind.Object) fail<bool>("The input must be a JSON object");
  }

  has(name: string): bool {
    return this.find(name) !== null;
  }

  any(name: string): JsonValue {
    const value = this.find(name);
    return value === null ? fail<JsonValue>(`"${name}" is missing`) : value;
  }

  text(name: string): Text {
    return textOf(this.any(name), name);
  }

  textOr(name: string, fallback: string): Text {
    return this.has(name) ? this.text(name) : Text.of(fallback);
  }

  flag(name: string, fallback: bool): bool {
    const value = this.find(name);
    if (value === null) return fallback;
    if (value.kind != JsonKind.True && value.kind != JsonKind.False) fail<bool>(`"${name}" must be true or false`);
    return value.kind == JsonKind.True;
  }

  integer(name: string, fallback: i32, least: i32, most: i32): i32 {
    const value = this.find(name);
    if (value === null) return fallback;
    const number = value.kind == JsonKind.Number ? F64.parseFloat(value.text.toString()) : NaN;
    if (!(number >= least && number <= most) || Math.floor(number) != number)
      fail<bool>(`"${name}" must be an integer from ${least} to ${most}`);
    return number as i32;
  }

  list(name: string): JsonValue[] {
    const value = this.any(name);
    return value.kind == JsonKind.List ? value.items : fail<JsonValue[]>(`"${name}" must be a list`);
  }

  private find(name: string): JsonValue | null {
    return this.fields.get(Text.of(name));
  }
}

export function textOf(value: JsonValue, name: string): Text {
  return value.kind == JsonKind.Text ? value.text : fail<Text>(`"${name}" must be a text`);
}

/** The last line of a job: write its output into `json`, then `send`. */
export class JobOutput {
  json: JsonWriter;
  private line: Bytes;

  constructor() {
    const line = new Bytes();
    line.putString('{"type":"done","output":');
    this.line = line;
    this.json = new JsonWriter(line);
    this.json.beginObject();
  }

  send(): void {
    this.json.endObject();
    this.line.putString("}\n");
    write(this.line);
  }
}

export function sendProgress(step: i32, total: i32): void {
  const line = new Bytes();
  line.putString(`{"type":"progress","step":${step},"total":${total}}\n`);
  write(line);
}

/** The first line of standard input, without its line end. */
function readLine(): Text {
  const line = new Bytes();
  while (true) {
    store<usize>(iovec, line.reserve(CHUNK_BYTES));
    store<i32>(iovec, CHUNK_BYTES, 4);
    if (fd_read(0, iovec, 1, iovec + 8) != 0) return fail<Text>("The input cannot be read");
    const count = load<i32>(iovec, 8);
    const end = line.length + count;
    for (let at = line.length; at < end; at++) {
      if (load<u8>(line.ptr + at) != NEWLINE) continue;
      line.length = at;
      return line.text();
    }
    line.length = end;
    if (end > MAX_INPUT_BYTES) return fail<Text>("The input is longer than 512 KB");
    if (count == 0) return line.text();
  }
}
