import { isJsonValue } from "./json-value.ts";

/**
 * Returns the canonical JSON of a value: RFC 8785 (no spaces, keys sorted by UTF-16 units, numbers and escapes as
 * ECMAScript writes them). Different values have different texts; 0 and -0 are the same value.
 * @throws {TypeError} if it is not a JSON value, or contains text that is not well-formed Unicode, which the RFC cannot
 * represent
 */
export function canonicalJson(value: unknown): string {
  if (!isJsonValue(value)) throw new TypeError("must be a JSON value that is nested at most 100 levels deep");
  return sortedJson(value, quoteWellFormed);
}

/** Returns JSON without spaces, with sorted object members. Unlike {@link canonicalJson} it accepts any text. */
export function sortedJson(value: unknown, quote: (text: string) => string = JSON.stringify): string {
  if (typeof value === "string") return quote(value);
  if (Array.isArray(value)) return `[${value.map((each) => sortedJson(each, quote)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, each]) => `${quote(key)}:${sortedJson(each, quote)}`).join(",")}}`;
}

function quoteWellFormed(text: string): string {
  if (!text.isWellFormed()) throw new TypeError("all texts must be well-formed Unicode");
  return JSON.stringify(text);
}
