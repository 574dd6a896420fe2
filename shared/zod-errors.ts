import type { z } from "zod";
import type { FieldError } from "./errors.ts";

/** The wrong fields of `value`, which did not pass a schema, in words for people who do not know zod. */
export function fieldErrorsOf(error: z.ZodError, value: unknown): FieldError[] {
  return error.issues.map(({ code, path, message }) => ({
    path: path.map(String).join("."),
    // The messages of our own rules say themselves that a member is missing.
    message: code !== "custom" && path.length > 0 && valueAt(value, path) === undefined ? "is missing" : message,
  }));
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((found, key) => (found as Record<PropertyKey, unknown> | null | undefined)?.[key], value);
}
