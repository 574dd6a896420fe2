import type { z } from "zod";
import { MAX_DETAILS, type FieldError } from "./errors.ts";

/** Returns the first invalid fields of `value`, with messages that do not require knowledge of zod. */
export function fieldErrorsOf(error: z.ZodError, value: unknown): FieldError[] {
  return faultsOf(error.issues).map(({ code, path, message }) => ({
    path: path.map(String).join("."),
    // The messages of this project's own rules already state that a member is missing.
    message: code !== "custom" && path.length > 0 && valueAt(value, path) === undefined ? "is missing" : message,
  }));
}

/** The number of faults is limited, because each of thousands of entries of a list can have one. */
function faultsOf(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  return issues.slice(0, MAX_DETAILS).flatMap(innermostIssues).slice(0, MAX_DETAILS);
}

/**
 * Returns the faults inside the only alternative of a union that accepts this kind of value. If several do, or none
 * does, returns the union's own fault.
 */
function innermostIssues(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue];
  const alternatives = issue.errors.map(faultsOf);
  const [fitting, ...others] = alternatives.filter((issues) => !issues.some(isOfOtherKind));
  if (fitting === undefined || others.length > 0) return [issue];
  return fitting.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** Returns whether the alternative expects another kind of value, or an object of another `type`. */
function isOfOtherKind({ path: [first, ...others] }: z.core.$ZodIssue): boolean {
  return others.length === 0 && (first === undefined || first === "type" || typeof first === "number");
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((found, key) => (found as Record<PropertyKey, unknown> | null | undefined)?.[key], value);
}
