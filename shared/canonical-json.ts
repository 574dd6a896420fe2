import { isJsonValue, type JsonValue } from "./json-value.ts";

/**
 * The one JSON text of a value, whatever order its keys came in: RFC 8785 (no spaces, keys sorted by UTF-16 units, numbers
 * and escapes as ECMAScript writes them). Two values that differ have texts that differ; 0 and -0 are one value.
 * @throws {TypeError} for what is no JSON value, and for texts that are not well-formed Unicode, which the RFC has no form for.
 */
export function canonicalJson(value: unknown): string {
  if (!isJsonValue(value)) throw new TypeError("not a JSON value of at most 100 levels");
  return textOf(value);
}

function textOf(value: JsonValue): string {
  if (typeof value === "string") return quote(value);
  if (Array.isArray(value)) return `[${(value as readonly JsonValue[]).map(textOf).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, each]) => `${quote(key)}:${textOf(each)}`).join(",")}}`;
}

function quote(text: string): string {
  if (!text.isWellFormed()) throw new TypeError("a text is not well-formed Unicode");
  return JSON.stringify(text);
}
