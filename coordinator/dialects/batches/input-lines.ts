import { createReadStream } from "node:fs";
import type { FileBatchError } from "../../store/files/file-batches.ts";

/** Maximum bytes of a line: 1 MiB for its body, as in any request, and 64 KiB for the rest. */
const MAX_LINE_BYTES = 1_114_112;
const MAX_CUSTOM_ID_CHARS = 512;
const LINE_FEED = 0x0a;

export interface BatchLine {
  /** Line number from 1, counting empty lines. */
  readonly number: number;
  readonly customId: string;
  readonly body: object;
}

interface WrongLine {
  readonly error: FileBatchError;
}

/** Yields the lines of a JSONL file one at a time, so that at most one is in memory. Skips empty lines. */
export async function* readLines(path: string, endpoint: string): AsyncGenerator<BatchLine | WrongLine> {
  for await (const { number, bytes } of rawLines(path)) {
    if (bytes === null) {
      const message = `The line is longer than ${MAX_LINE_BYTES} bytes`;
      yield { error: { code: "line_too_long", message, param: null, line: number } };
      continue;
    }
    const text = bytes.toString("utf8").trim();
    if (text !== "") yield parseLine(text, number, endpoint);
  }
}

function parseLine(text: string, number: number, endpoint: string): BatchLine | WrongLine {
  const wrong = (code: string, message: string, param: string | null): WrongLine => ({
    error: { code, message, param, line: number },
  });
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch {
    return wrong("invalid_json_line", "The line is not valid JSON", null);
  }
  if (!isObject(line)) return wrong("invalid_json_line", "The line is not a JSON object", null);
  const { custom_id: customId, method, url, body } = line as Record<string, unknown>;
  if (typeof customId !== "string" || customId === "" || customId.length > MAX_CUSTOM_ID_CHARS) {
    return wrong("invalid_custom_id", `Must be a string of 1 to ${MAX_CUSTOM_ID_CHARS} characters`, "custom_id");
  }
  if (method !== "POST") return wrong("invalid_method", 'Must be "POST"', "method");
  if (url !== endpoint) return wrong("mismatched_endpoint", `Must be the batch's endpoint, ${endpoint}`, "url");
  if (!isObject(body)) return wrong("invalid_body", "Must be an object", "body");
  return { number, customId, body };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Yields the bytes of each line; null for a line that is too long. */
async function* rawLines(path: string): AsyncGenerator<{ number: number; bytes: Buffer | null }> {
  let [number, length, isTooLong] = [1, 0, false];
  let parts: Buffer[] = [];
  const take = (part: Buffer): void => {
    length += part.length;
    isTooLong ||= length > MAX_LINE_BYTES;
    if (isTooLong) parts = [];
    else parts.push(part);
  };
  const end = () => {
    const line = { number, bytes: isTooLong ? null : Buffer.concat(parts) };
    [number, length, isTooLong, parts] = [number + 1, 0, false, []];
    return line;
  };
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, from)) {
      take(chunk.subarray(from, at));
      from = at + 1;
      yield end();
    }
    take(chunk.subarray(from));
  }
  if (length > 0) yield end();
}
