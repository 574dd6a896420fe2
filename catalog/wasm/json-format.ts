import { Bytes } from "./lib/bytes";
import { JobInput, JobOutput } from "./lib/job";
import { parseJson } from "./lib/json-parser";
import { JsonWriter } from "./lib/json-writer";

/** Formats JSON: indented or on one line, with names sorted by code point on request. Numbers keep their digits. */
const input = new JobInput();
const json = new Bytes();
const value = parseJson(input.text("json"), "The text");
new JsonWriter(json, input.integer("indent", 2, 0, 8), input.flag("sort_keys", false)).value(value);

const output = new JobOutput();
output.json.nameText("json", json.text());
output.send();
