import { z } from "zod";

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** Nesting limit. Deeper values could overflow the stack when they are serialized. */
const MAX_DEPTH = 100;

/**
 * Returns whether a value can be represented in JSON and is nested at most 100 levels deep. MessagePack can represent
 * more (big integers, dates, binary, cycles), which jobs may not contain.
 */
export function isJsonValue(value: unknown): value is JsonValue {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return false;
    const next: unknown[] = [];
    for (const each of level) {
      if (each === null || typeof each === "string" || typeof each === "boolean" || Number.isFinite(each)) continue;
      if (!Array.isArray(each) && !isPlainObject(each)) return false;
      // The values are pushed one by one, because spreading a long array into arguments overflows the stack.
      for (const member of Object.values(each)) next.push(member);
    }
    level = next;
  }
  return true;
}

/** Returns whether a value is an object and not an array. Its members are not checked. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

export const jsonValueSchema = z.custom<JsonValue>(
  isJsonValue,
  "must be a JSON value that is nested at most 100 levels deep",
);
