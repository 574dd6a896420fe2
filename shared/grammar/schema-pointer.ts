/**
 * The steps of a reference within a schema: a JSON Pointer (RFC 6901) in a URI fragment. None for `#`; undefined for any other reference.
 */
export function pointerSteps(ref: unknown): readonly string[] | undefined {
  if (typeof ref !== "string" || !/^#(?:\/|$)/.test(ref)) return undefined;
  try {
    const [, ...steps] = decodeURIComponent(ref).split("/");
    return steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  } catch {
    return undefined;
  }
}

/** The reference of these steps, not encoded for a URI. */
export function pointerOf(steps: readonly string[]): string {
  return `#${steps.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")}`;
}

/** What stands there; undefined for nothing. */
export function valueAt(root: unknown, steps: readonly string[]): unknown {
  let found = root;
  for (const step of steps) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[step];
  }
  return found;
}
