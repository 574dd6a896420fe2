import { Bytes } from "./bytes";
import { JsonWriter } from "./json-writer";
import { exit, write } from "./stdio";

/** Ends the job: one `error` line, exit code 1. Does not return, whatever type the caller needs. */
export function fail<T>(message: string): T {
  const line = new Bytes();
  const json = new JsonWriter(line);
  json.beginObject();
  json.nameString("type", "error");
  json.nameString("message", message);
  json.endObject();
  line.put(0x0a);
  write(line);
  exit(1);
  return unreachable();
}

/** Called by AssemblyScript instead of `throw`: for a failed assertion, which has a message, or an index out of bounds, a bug here. */
export function abort(message: string | null, file: string | null, line: u32, column: u32): void {
  fail<bool>(message !== null ? message : `The program has a fault (${file !== null ? file : ""}:${line}:${column})`);
}
