import { FieldFailure } from "../field-failure.ts";
import { controlFor, membersOf, type InputSchema } from "./input-schema.ts";

/** Field values of the form by member: typed text, or whether a box is ticked. */
export type Draft = Readonly<Record<string, string | boolean>>;

/** Returns the form's field values for an input, such as a Cargo's example. */
export function draftOf(schema: InputSchema, value: Readonly<Record<string, unknown>>): Draft {
  const draft: Record<string, string | boolean> = {};
  for (const { name, schema: member } of membersOf(schema)) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    draft[name] = textOf(member, given);
  }
  return draft;
}

function textOf(schema: InputSchema, value: unknown): string | boolean {
  const control = controlFor(schema);
  if (control === "check") return (value ?? schema.default) === true;
  if (value === undefined) return "";
  if (control === "lines" && Array.isArray(value)) return value.join("\n");
  if (control === "choice" || control === "json") return JSON.stringify(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns the input that the form holds, without empty members. @throws {FieldFailure} at an invalid member. */
export function readDraft(schema: InputSchema, draft: Draft): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  for (const { name, schema: member, isRequired } of membersOf(schema)) {
    const read = readMember(name, member, draft[name] ?? "");
    if (read !== undefined) value[name] = read;
    else if (isRequired) throw new FieldFailure(`input.${name}`, "This field is required");
  }
  return value;
}

function readMember(name: string, schema: InputSchema, typed: string | boolean): unknown {
  if (typeof typed === "boolean") return typed === (schema.default ?? false) ? undefined : typed;
  if (typed === "") return undefined;
  switch (controlFor(schema)) {
    case "number":
      return readNumber(name, schema, typed);
    case "choice":
    case "json":
      return readJson(name, typed);
    case "lines":
      return typed.split("\n").filter((line) => line !== "");
    default:
      return typed;
  }
}

function readNumber(name: string, { type, minimum, maximum, exclusiveMinimum }: InputSchema, typed: string): number {
  const number = Number(typed);
  const fail = (message: string): never => {
    throw new FieldFailure(`input.${name}`, message);
  };
  if (typed.trim() === "" || !Number.isFinite(number)) return fail("Enter a number");
  if (type === "integer" && !Number.isInteger(number)) return fail("Enter a whole number");
  if (exclusiveMinimum !== undefined && number <= exclusiveMinimum)
    return fail(`Must be more than ${exclusiveMinimum}`);
  if (minimum !== undefined && number < minimum) return fail(`Must be at least ${minimum}`);
  if (maximum !== undefined && number > maximum) return fail(`Must be at most ${maximum}`);
  return number;
}

/** Parses a JSON value. @throws {FieldFailure} */
export function readJson(name: string, typed: string): unknown {
  try {
    return JSON.parse(typed) as unknown;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new FieldFailure(`input.${name}`, `Not valid JSON: ${reason}`);
  }
}
