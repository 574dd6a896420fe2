import { sortedJson } from "./canonical-json.ts";

/** Maximum nesting of a value that is compared. Values of requests are nested at most 100 levels deep. */
const MAX_DEPTH = 128;

/** A set of JSON values, for `enum` and `const`. A lookup takes the same time for any number of members. */
export interface JsonSet {
  has(value: unknown): boolean;
  /** Maximum characters of a list or object that a lookup reads; 0 if all members are scalars. */
  readonly maxChars: number;
}

/** Creates a set. Numbers are equal by value, and objects regardless of the order of their members. */
export function jsonSetOf(members: readonly unknown[]): JsonSet {
  const scalars = new Set<unknown>();
  const texts = new Set<string>();
  let maxChars = 0;
  for (const member of members) {
    if (typeof member !== "object" || member === null) {
      scalars.add(member);
      continue;
    }
    const text = sortedJson(member);
    texts.add(text);
    maxChars = Math.max(maxChars, text.length);
  }
  return {
    maxChars,
    has(value) {
      if (typeof value !== "object" || value === null) return scalars.has(value);
      if (maxChars === 0) return false;
      const text = shortJson(value, maxChars, MAX_DEPTH);
      return text !== null && texts.has(text);
    },
  };
}

/**
 * Returns the same text as `sortedJson`; null if it would be longer than `maxChars` or deeper than `levels`. Reads at
 * most about `maxChars` characters of the value.
 */
function shortJson(value: unknown, maxChars: number, levels: number): string | null {
  if (typeof value === "string") {
    if (value.length + 2 > maxChars) return null;
    const quoted = JSON.stringify(value);
    return quoted.length > maxChars ? null : quoted;
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (levels === 0) return null;
  const isList = Array.isArray(value);
  // Each item takes at least two characters with its comma, and each member five.
  if (isList && value.length * 2 > maxChars) return null;
  const names = isList ? null : namesOf(value, maxChars / 5);
  if (!isList && names === null) return null;
  let text = isList ? "[" : "{";
  for (const key of names ?? (value as readonly unknown[])) {
    const start = text.length === 1 ? "" : ",";
    const name = names === null ? "" : `${JSON.stringify(key)}:`;
    const each = names === null ? key : (value as Readonly<Record<string, unknown>>)[key as string];
    const left = maxChars - text.length - start.length - name.length - 1;
    const part = left < 1 ? null : shortJson(each, left, levels - 1);
    if (part === null) return null;
    text += start + name + part;
  }
  return text.length + 1 > maxChars ? null : text + (isList ? "]" : "}");
}

/** Returns the sorted names of an object's members; null if there are more than `max`. */
function namesOf(value: object, max: number): string[] | null {
  let count = 0;
  for (const name in value) if (Object.hasOwn(value, name) && (count += 1) > max) return null;
  return Object.keys(value).sort();
}
