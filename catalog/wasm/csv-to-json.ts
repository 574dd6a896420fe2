import { CsvReader } from "./lib/csv-reader";
import { readDelimiter } from "./lib/csv-delimiter";
import { fail } from "./lib/fail";
import { JobInput, JobOutput } from "./lib/job";
import { JsonWriter } from "./lib/json-writer";
import { Text } from "./lib/text";
import { TextTable } from "./lib/text-table";

/** Converts CSV to objects with the header line's names, or to lists without a header. All values are strings. */
const input = new JobInput();
const reader = new CsvReader(input.text("csv"), readDelimiter(input));
const hasHeader = input.flag("header", true);
const columns = hasHeader ? readHeading(reader) : [];

const output = new JobOutput();
let count = 0;
output.json.nameList("rows");
for (let row = reader.read(); row !== null; row = reader.read()) {
  if (hasHeader) writeObject(output.json, row);
  else writeList(output.json, row);
  count++;
}
output.json.endList();
output.json.nameInteger("count", count);
output.send();

function readHeading(reader: CsvReader): Text[] {
  const heading = reader.read();
  if (heading === null) return fail<Text[]>("The table is empty: a heading line is expected");
  const names = new TextTable();
  for (let at = 0; at < heading.length; at++)
    if (names.add(heading[at]) < at) fail<bool>(`Two columns are named "${heading[at].toString()}"`);
  return heading;
}

/** Fields missing in a short line are null. */
function writeObject(json: JsonWriter, row: Text[]): void {
  if (row.length > columns.length)
    fail<bool>(`Line ${reader.line}: ${row.length} fields, but the heading names ${columns.length}`);
  json.beginObject();
  for (let at = 0; at < columns.length; at++) {
    json.name(columns[at]);
    if (at < row.length) json.text(row[at]);
    else json.word("null");
  }
  json.endObject();
}

function writeList(json: JsonWriter, row: Text[]): void {
  json.beginList();
  for (let at = 0; at < row.length; at++) json.text(row[at]);
  json.endList();
}
