/** What a schema costs, in steps of about 16 ns: for each value that is checked, and for each 8 bytes of text. */
export interface SchemaCost {
  readonly perValue: number;
  readonly perText: number;
}

type Json = Readonly<Record<string, unknown>>;

/** A check occupies the event loop for a third of a second at most, and mostly for far less. */
const MAX_STEPS = 20_000_000;
const TEXT_BYTES = 8;
/** Comparisons in a step: of names, of the values of an `enum`, and of pairs. */
const COMPARISONS = 2;

/** What one subschema adds, without those in it: `enum` and `uniqueItems` compare each value with many others. */
export function ownCost({ enum: values, required, uniqueItems, maxItems, ...rest }: Json): SchemaCost {
  const compared =
    (Array.isArray(values) ? values.length : 0) +
    (Array.isArray(required) ? required.length : 0) +
    (uniqueItems === true && typeof maxItems === "number" ? maxItems : 0);
  const readsText = ["pattern", "format", "minLength", "maxLength"].some((keyword) => Object.hasOwn(rest, keyword));
  return { perValue: 1 + compared / COMPARISONS, perText: readsText ? 1 : 0 };
}

/** Whether a value can be checked in bounded time. `bytes`: its size as JSON. */
export function isAffordable({ perValue, perText }: SchemaCost, value: unknown, bytes: number): boolean {
  const steps = (perText * bytes) / TEXT_BYTES;
  // A value has two bytes, with its comma.
  if (steps + perValue * (1 + bytes / 2) <= MAX_STEPS) return true;
  return steps + perValue * countValues(value) <= MAX_STEPS;
}

/** The values in `value`, itself and the names of members included. */
function countValues(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  const members = Object.values(value);
  let count = 1 + (Array.isArray(value) ? 0 : members.length);
  for (const member of members) count += countValues(member);
  return count;
}
