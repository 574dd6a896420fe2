import { isJsonValue } from "./json-value.ts";

/**
 * The one JSON text of a value, whatever order its keys came in: RFC 8785 (no spaces, keys sorted by UTF-16 units, numbers
 * and escapes as ECMAScript writes them). Two values that differ have texts that differ; 0 and -0 are one value.
 * @throws {TypeError} for anything but a JSON value, and for text that is not well-formed Unicode: the RFC has no form for it.
 */
export function canonicalJson(value: unknown): string {
  if (!isJsonValue(value)) throw new TypeError("not a JSON value of at most 100 levels");
  return sortedJson(value, quoteWellFormed);
}

/** JSON text without spaces, with the members of every object in order of name. Unlike {@link canonicalJson} it takes any text. */
export function sortedJson(value: unknown, quote: (text: string) => string = JSON.stringify): string {
  if (typeof value === "string") return quote(value);
  if (Array.isArray(value)) return `[${value.map((each) => sortedJson(each, quote)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, each]) => `${quote(key)}:${sortedJson(each, quote)}`).join(",")}}`;
}

function quoteWellFormed(text: string): string {
  if (!text.isWellFormed()) throw new TypeError("a text is not well-formed Unicode");
  return JSON.stringify(text);
}
