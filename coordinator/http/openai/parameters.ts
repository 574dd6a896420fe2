import { isDeepStrictEqual } from "node:util";
import { z } from "@hono/zod-openapi";
import { MAX_DETAILS, ValidationError, type FieldError } from "../../../shared/errors.ts";
import { isJsonObject } from "../../../shared/json-value.ts";
import { editDistance, nearestName } from "../../../shared/cli/nearest-name.ts";
import { fieldNotesOf, type IgnoredEntry, type UnsupportedField } from "../../../shared/request-object.ts";
import type { ErrorStyle } from "../error-responses.ts";

/** Response header that names the ignored parameters of a request, separated by commas. */
export const IGNORED_HEADER = "Atoll-Ignored";
/** Maximum entries of one list that the header names, so that the header has at most 5 KB. */
const MAX_NAMED_ENTRIES = 8;

/** A parameter of a request body, with the members and entries of all its schemas. */
export interface Parameter {
  /** Name as a path, with `[]` for entries of a list: `stream_options.include_usage`, `messages[].name`. */
  readonly name: string;
  /** Schemas of the values; empty for a parameter that is not supported. */
  readonly schemas: z.ZodType[];
  /** Why the parameter is refused or ignored; null for a supported parameter. */
  readonly unhonoured: UnsupportedField | null;
  readonly members: Map<string, Parameter>;
  /** Entries of a list, as one parameter; null if the value is not a list. */
  entries: Parameter | null;
  /** Decides which entries of a list are ignored; null if none is. */
  ignoredEntry: IgnoredEntry | null;
}

const trees = new WeakMap<z.ZodType, Parameter>();

interface Findings {
  readonly style: ErrorStyle;
  readonly faults: FieldError[];
  /** Paths at which an ignored parameter occurs in the body, by the parameter's name. */
  readonly ignored: Map<string, string[]>;
}

/**
 * Checks that the schema knows every member of the body and refuses none.
 * @param style Format of the errors. Anthropic's clients recognise a refusal by the wording of Anthropic's own errors.
 * @returns Paths of the ignored parameters (`output_config.effort`, `tools[8]`). If more than 8 entries of a list are
 *   ignored, the parameter's name instead.
 * @throws {ValidationError} naming each parameter that is refused or unknown.
 */
export function checkParameters(schema: z.ZodType, body: unknown, style: ErrorStyle): string[] {
  const findings: Findings = { style, faults: [], ignored: new Map() };
  walk(parametersOf(schema), body, "", findings);
  const { faults, ignored } = findings;
  if (faults.length > 0) throw new ValidationError(faults);
  return [...ignored].flatMap(([name, paths]) =>
    paths.length > MAX_NAMED_ENTRIES ? [name] : paths.map((path) => path.replaceAll(/\.(\d+)(?=\.|$)/g, "[$1]")),
  );
}

function walk(parameter: Parameter, value: unknown, path: string, findings: Findings): void {
  const { style, faults, ignored } = findings;
  if (faults.length >= MAX_DETAILS || value === null || value === undefined) return;
  const { name, unhonoured, members, entries } = parameter;
  if (unhonoured !== null) {
    if (unhonoured.neutral.some((neutral) => isDeepStrictEqual(neutral, value))) return;
    if (unhonoured.rule === "refused") faults.push({ path, message: refusedParameter(unhonoured, style) });
    else noteIgnored(ignored, name, path);
    return;
  }
  if (entries !== null && Array.isArray(value)) {
    for (const [index, each] of value.entries()) {
      const entryPath = joinPath(path, String(index));
      if (entries.ignoredEntry?.matches(each) === true) noteIgnored(ignored, entries.name, entryPath);
      else walk(entries, each, entryPath, findings);
    }
  }
  if (members.size === 0 || !isJsonObject(value)) return;
  for (const [key, each] of Object.entries(value)) {
    const member = members.get(key);
    if (member !== undefined) walk(member, each, joinPath(path, key), findings);
    else if (each !== null) faults.push({ path: joinPath(path, key), message: unknownParameter(key, members, style) });
  }
}

function noteIgnored(ignored: Findings["ignored"], name: string, path: string): void {
  const paths = ignored.get(name);
  if (paths === undefined) ignored.set(name, [path]);
  else if (paths.length <= MAX_NAMED_ENTRIES) paths.push(path);
}

/** Anthropic's wording for an unknown member, at which Claude Code repeats the request without that member. */
const EXTRA_INPUT = "Extra inputs are not permitted";

function refusedParameter({ note }: UnsupportedField, style: ErrorStyle): string {
  return style === "anthropic" ? `${EXTRA_INPUT}: ${note}` : `is not supported: ${note}`;
}

function unknownParameter(name: string, members: Parameter["members"], style: ErrorStyle): string {
  if (style === "anthropic") return EXTRA_INPUT;
  const nearest = nearestName(name.slice(0, 40), [...members.keys()]) ?? "";
  const isTypo = editDistance(name.slice(0, 40), nearest) <= 2;
  return `is not a parameter of this request${isTypo ? `; did you mean "${nearest}"?` : ""}`;
}

/** Returns an unnamed parameter whose members are the parameters of the schema. */
export function parametersOf(schema: z.ZodType): Parameter {
  let root = trees.get(schema);
  if (root === undefined) {
    root = emptyParameter("", null);
    addSchema(root, schema);
    trees.set(schema, root);
  }
  return root;
}

function emptyParameter(name: string, unhonoured: UnsupportedField | null): Parameter {
  return { name, unhonoured, schemas: [], members: new Map(), entries: null, ignoredEntry: null };
}

/** Adds a schema to the parameter. All schemas of a union are added to the same parameter. */
function addSchema(parameter: Parameter, schema: z.core.$ZodType): void {
  const { ignoredEntry } = fieldNotesOf(schema as z.ZodType);
  if (ignoredEntry !== undefined) {
    parameter.ignoredEntry = ignoredEntry;
  } else if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    addSchema(parameter, schema.def.innerType);
  } else if (schema instanceof z.ZodPipe) {
    const { in: given, out } = schema.def;
    addSchema(parameter, given instanceof z.ZodTransform ? out : given);
  } else if (schema instanceof z.ZodUnion) {
    for (const option of schema.def.options) addSchema(parameter, option);
  } else if (schema instanceof z.ZodArray) {
    parameter.entries ??= emptyParameter(`${parameter.name}[]`, null);
    addOne(parameter.entries, schema.def.element);
  } else if (schema instanceof z.ZodObject) {
    addMembers(parameter, schema);
  }
}

function addOne(parameter: Parameter, schema: z.core.$ZodType): void {
  parameter.schemas.push(schema as z.ZodType);
  addSchema(parameter, schema);
}

function addMembers({ name: of, members }: Parameter, schema: z.ZodObject): void {
  const { shape } = schema;
  const noted = fieldNotesOf(schema).members;
  for (const name of new Set([...(noted?.keys() ?? []), ...Object.keys(shape)])) {
    let member = members.get(name);
    if (member === undefined) {
      member = emptyParameter(joinPath(of, name), noted?.get(name) ?? null);
      members.set(name, member);
    }
    const honoured = shape[name];
    if (honoured !== undefined && member.unhonoured === null) addOne(member, honoured);
  }
}

function joinPath(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
