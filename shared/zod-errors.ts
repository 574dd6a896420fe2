import type { z } from "zod";
import { MAX_DETAILS, type FieldError } from "./errors.ts";

/** The first wrong fields of `value`, which did not pass a schema, in words for people who do not know zod. */
export function fieldErrorsOf(error: z.ZodError, value: unknown): FieldError[] {
  return faultsOf(error.issues).map(({ code, path, message }) => ({
    path: path.map(String).join("."),
    // The messages of our own rules say themselves that a member is missing.
    message: code !== "custom" && path.length > 0 && valueAt(value, path) === undefined ? "is missing" : message,
  }));
}

/** No more than an answer has: a list can have a fault in each of thousands of entries. */
function faultsOf(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  return issues.slice(0, MAX_DETAILS).flatMap(innermost).slice(0, MAX_DETAILS);
}

/** The faults inside the only alternative of a union that takes values of this kind; the union's own fault if several do, or none. */
function innermost(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue];
  const alternatives = issue.errors.map(faultsOf);
  const [fitting, ...others] = alternatives.filter((issues) => !issues.some(isOfOtherKind));
  if (fitting === undefined || others.length > 0) return [issue];
  return fitting.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** Whether the alternative takes another kind of value: text, a list of other things, or an object of another `type`. */
function isOfOtherKind({ path: [first, ...others] }: z.core.$ZodIssue): boolean {
  return others.length === 0 && (first === undefined || first === "type" || typeof first === "number");
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((found, key) => (found as Record<PropertyKey, unknown> | null | undefined)?.[key], value);
}
