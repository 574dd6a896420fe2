import { Bytes } from "./lib/bytes";
import { readDelimiter } from "./lib/csv-delimiter";
import { fail } from "./lib/fail";
import { JobInput, JobOutput, textOf } from "./lib/job";
import { JsonKind, JsonValue } from "./lib/json-value";
import { JsonWriter } from "./lib/json-writer";
import { Text } from "./lib/text";
import { TextTable } from "./lib/text-table";

/**
 * Writes a list of objects as CSV (RFC 4180): lines end with CRLF, fields are quoted where necessary. Null and missing values are
 * empty fields; nested lists and objects are written as JSON.
 */
const input = new JobInput();
const rows = input.list("rows");
const delimiter = readDelimiter(input);
const csv = new Bytes();
const scratch = new Bytes();
const columns = input.has("columns") ? namedColumns(input.list("columns")) : foundColumns(rows);

if (input.flag("header", true)) {
  for (let at = 0; at < columns.length; at++) putField(columns[at], at);
  endLine();
}
for (let row = 0; row < rows.length; row++) {
  if (rows[row].kind != JsonKind.Object) fail<bool>(`Row ${row + 1} must be an object`);
  for (let at = 0; at < columns.length; at++) putField(fieldOf(rows[row].get(columns[at])), at);
  endLine();
}

const output = new JobOutput();
output.json.nameText("csv", csv.text());
output.json.nameInteger("count", rows.length);
output.send();

function namedColumns(names: JsonValue[]): Text[] {
  const columns: Text[] = [];
  for (let at = 0; at < names.length; at++) columns.push(textOf(names[at], "columns"));
  return columns;
}

/** All names, in the order of their first occurrence. */
function foundColumns(rows: JsonValue[]): Text[] {
  const found = new TextTable();
  for (let row = 0; row < rows.length; row++) {
    const names = rows[row].names;
    for (let at = 0; at < names.length; at++) found.add(names[at]);
  }
  return found.texts;
}

function fieldOf(value: JsonValue | null): Text {
  if (value === null || value.kind == JsonKind.Null) return new Text(0, 0);
  if (value.kind == JsonKind.Text || value.kind == JsonKind.Number) return value.text;
  scratch.length = 0;
  new JsonWriter(scratch).value(value);
  return scratch.text();
}

function putField(field: Text, place: i32): void {
  if (place > 0) csv.put(delimiter);
  if (!mustBeQuoted(field)) return csv.putText(field);
  csv.put(0x22);
  for (let at = 0; at < field.length; at++) {
    if (field.at(at) == 0x22) csv.put(0x22);
    csv.put(field.at(at));
  }
  csv.put(0x22);
}

function mustBeQuoted(field: Text): bool {
  // A single empty field would be an empty line, which readers skip.
  if (field.length == 0) return columns.length == 1;
  // Some readers trim white space.
  if (field.at(0) == 0x20 || field.at(field.length - 1) == 0x20) return true;
  for (let at = 0; at < field.length; at++) {
    const byte = field.at(at);
    if (byte == delimiter || byte == 0x22 || byte == 0x0a || byte == 0x0d) return true;
  }
  // Readers remove a byte order mark at the start of the table.
  return field.at(0) == 0xef;
}

function endLine(): void {
  csv.put(0x0d);
  csv.put(0x0a);
}
