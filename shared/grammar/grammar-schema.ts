import { costProblem, MAX_VISITS, type VisitBudget } from "./grammar-cost.ts";
import {
  arrayBounds,
  checkKeywords,
  hasOthers,
  isAnnotation,
  listedNames,
  numberKeywords,
  stringKeywords,
  typesOf,
} from "./grammar-keywords.ts";
import { isJsonObject } from "../json-value.ts";

/** Keywords whose lists are united when merged. */
const LISTS = new Set(["required"]);
/** Keywords whose larger value is stricter. The next set has the keywords whose smaller value is stricter. */
const LARGER = new Set(["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"]);
const SMALLER = new Set(["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"]);

type Schema = Readonly<Record<string, unknown>>;

/** Limit of parts. Compiling a grammar blocks every other run; see grammar-cost.ts. */
const MAX_NODES = 1_000;
const MAX_MERGE_DEPTH = 32;
/** Number of values in two lists of `enum` whose comparison takes as long as reading a part. */
const VALUES_PER_NODE = 32;
/**
 * Maximum number of properties that may be omitted. In the grammar, each is an alternative to the properties before it.
 */
const MAX_OMITTABLE = 64;
/** Number of parts of a schema that allows any value. */
const NODES_OF_ANY = 4;
const ANY_SCALAR = ["string", "number", "boolean", "null"] as const;
/** Name of the definition for `{"$ref": "#"}`. */
const ROOT = "#";
const ROOT_PATH = "schema";

/**
 * Converts a JSON Schema to the subset that grammars support: `$ref` with `$defs`, `oneOf`, `const`, `enum`, and types
 * with their bounds. Objects get exactly the listed properties. Optional properties with references are listed in
 * `optional` and may be missing, so that recursion ends. With `mayOmit`, all optional properties may be missing. Other
 * constraints are validated in the completion (`unmetSchema` in coordinator/dispatch/result-faults.ts). The coordinator
 * calls this before it accepts a job, and the agent before it compiles the grammar.
 * @throws {UnsupportedSchema} with the path, and with what is unsupported or too costly there
 */
export function grammarSchemaOf(
  schema: Schema,
  {
    mayOmit = false,
    budget = { left: MAX_VISITS },
  }: { readonly mayOmit?: boolean; readonly budget?: VisitBudget } = {},
): Schema {
  const read = new SchemaReader(schema, mayOmit).readRoot();
  const loop = findLeftRecursion(read);
  if (loop !== undefined) throw unsupported(ROOT_PATH, `${loop} leads back to itself before any value begins`);
  const problem = costProblem(read, budget);
  if (problem !== null) throw unsupported(ROOT_PATH, problem);
  return read;
}

/** Error for a schema that no grammar can enforce at reasonable cost. `path` starts with "response_format". */
export class UnsupportedSchema extends Error {
  override readonly name = "UnsupportedSchema";
  readonly path: string;
  readonly why: string;
  constructor(path: string, why: string) {
    super(`${path}: ${why}`);
    this.path = path;
    this.why = why;
  }
}

class SchemaReader {
  readonly #root: Schema;
  readonly #mayOmit: boolean;
  #nodes = 0;
  /** The references by name, each with the path of its first use. */
  readonly #references = new Map<string, string>();
  /** The targets of references to other paths than definitions, by name. zod-to-json-schema writes such references. */
  readonly #targets = new Map<string, unknown>();

  constructor(root: Schema, mayOmit: boolean) {
    this.#root = root;
    this.#mayOmit = mayOmit;
  }

  readRoot(): Schema {
    const core = this.read(this.#root, ROOT_PATH);
    const defs = {
      ...this.#readAll(this.#root["definitions"], "schema.definitions"),
      ...this.#readAll(this.#root["$defs"], "schema.$defs"),
    };
    // Reading a target may find more targets.
    for (const [name, target] of this.#targets) defs[name] = this.read(target, pathOf(name));
    for (const [name, path] of this.#references) {
      if (name !== ROOT && !Object.hasOwn(defs, name)) throw unsupported(path, missingDefinition(name));
    }
    if (this.#references.has(ROOT)) defs[ROOT] = core;
    return Object.keys(defs).length === 0 ? core : { ...core, $defs: defs };
  }

  read(raw: unknown, path: string): Schema {
    if (++this.#nodes > MAX_NODES) throw unsupported(path, `more than ${MAX_NODES} parts are not supported`);
    if (raw === true) return this.#anyValue();
    if (raw === false) throw unsupported(path, "allows no value");
    if (!isJsonObject(raw)) throw unsupported(path, "is not a schema");
    const problem = checkKeywords(raw);
    if (problem !== null) throw unsupported(path, problem);
    const ref = raw["$ref"];
    if (ref !== undefined && !hasOthers(raw, "$ref")) return { $ref: this.#referenceTo(ref, path) };
    const [only, ...more] = Array.isArray(raw["allOf"]) ? (raw["allOf"] as unknown[]) : [];
    if (only !== undefined && more.length === 0 && !hasOthers(raw, "allOf")) return this.read(only, `${path}.allOf.0`);
    return this.#readMerged(this.#merged(raw, path, 0), path);
  }

  #readMerged(raw: Schema, path: string): Schema {
    const keyword = raw["oneOf"] === undefined ? "anyOf" : "oneOf";
    const { [keyword]: choices, ...rest } = raw;
    if (choices !== undefined) return { oneOf: this.#readChoices(choices, rest, `${path}.${keyword}`) };
    if (raw["const"] !== undefined) return { const: raw["const"] };
    if (raw["enum"] !== undefined) return { enum: literals(raw, path) };
    const types = typesOf(raw);
    if (types.length === 0) return this.#anyValue();
    const [only] = types;
    if (types.length === 1 && only !== undefined) return this.#readTyped(only, raw, path);
    return { oneOf: types.map((type) => this.#readTyped(type, raw, path)) };
  }

  /** Reads alternatives, each combined with its sibling keywords. */
  #readChoices(choices: unknown, rest: Schema, path: string): Schema[] {
    if (!Array.isArray(choices) || choices.length === 0) throw unsupported(path, "is not a list of schemas");
    if (!hasOthers(rest)) return choices.map((each, index) => this.read(each, `${path}.${index}`));
    return choices.map((each, index) => this.read({ ...rest, allOf: [each] }, `${path}.${index}`));
  }

  /** Returns the schema without `allOf` and without references that have sibling keywords. */
  #merged(raw: Schema, path: string, depth: number): Schema {
    const { allOf, $ref, ...rest } = raw;
    if (allOf === undefined && $ref === undefined) return raw;
    if (depth > MAX_MERGE_DEPTH) throw unsupported(path, "is nested too deeply, or refers to itself, in allOf");
    if (allOf !== undefined && (!Array.isArray(allOf) || allOf.length === 0))
      throw unsupported(`${path}.allOf`, "is not a list of schemas");
    const parts = [...(allOf === undefined ? [] : (allOf as unknown[]))];
    if ($ref !== undefined) parts.unshift(this.#definition(this.#referenceTo($ref, path), path));
    let merged: Schema = rest;
    for (const part of parts) {
      if (part === true) continue;
      if (!isJsonObject(part)) throw unsupported(`${path}.allOf`, "is not a list of schemas");
      if (++this.#nodes > MAX_NODES) throw unsupported(path, `more than ${MAX_NODES} parts are not supported`);
      const problem = checkKeywords(part);
      if (problem !== null) throw unsupported(path, problem);
      merged = this.#merge(merged, this.#merged(part, path, depth + 1), path);
    }
    return merged;
  }

  #merge(one: Schema, other: Schema, path: string): Schema {
    const values = one["enum"];
    const others = other["enum"];
    if (Array.isArray(values) && Array.isArray(others) && values !== others) {
      this.#nodes += (values.length + others.length) / VALUES_PER_NODE;
      if (this.#nodes > MAX_NODES) throw unsupported(path, `more than ${MAX_NODES} parts are not supported`);
    }
    try {
      return mergeSchemas(one, other, isAnnotation);
    } catch (error) {
      if (error instanceof UnmergedSchema) throw unsupported(path, error.message);
      throw error;
    }
  }

  #anyValue(): Schema {
    this.#nodes += NODES_OF_ANY - 1;
    return { oneOf: [{ type: ANY_SCALAR }, { type: "array" }, { type: "object", additionalProperties: true }] };
  }

  #referenceTo(ref: unknown, path: string): string {
    const steps = pointerSteps(ref);
    if (steps === undefined)
      throw unsupported(path, `reference ${JSON.stringify(ref)} is not of the form "#/$defs/name"`);
    const [place, definition] = steps;
    const isDefinition = steps.length === 2 && (place === "$defs" || place === "definitions");
    const name = (isDefinition ? definition : undefined) ?? pointerOf(steps);
    if (steps.length > 0 && !isDefinition) {
      const target = valueAt(this.#root, steps);
      if (target === undefined) throw unsupported(path, `reference ${JSON.stringify(ref)} does not exist`);
      this.#targets.set(name, target);
    }
    if (!this.#references.has(name)) this.#references.set(name, path);
    return `#/$defs/${name}`;
  }

  /** Returns a definition as the client sent it. */
  #definition(ref: string, path: string): unknown {
    const name = ref.slice("#/$defs/".length);
    if (name === ROOT) return this.#root;
    if (this.#targets.has(name)) return this.#targets.get(name);
    for (const definitions of [this.#root["$defs"], this.#root["definitions"]]) {
      if (isJsonObject(definitions) && Object.hasOwn(definitions, name)) return definitions[name];
    }
    throw unsupported(path, missingDefinition(name));
  }

  #readTyped(type: string, raw: Schema, path: string): Schema {
    const fail = (why: string): never => {
      throw unsupported(path, why);
    };
    switch (type) {
      case "object":
        return this.#readObject(raw, path);
      case "array":
        return this.#readArray(raw, path);
      case "string":
        return { type, ...stringKeywords(raw, fail) };
      case "number":
      case "integer":
        return { type, ...numberKeywords(raw, fail) };
      case "boolean":
      case "null":
        return { type };
      default:
        return fail(`type "${type}" is not known`);
    }
  }

  #readArray(raw: Schema, path: string): Schema {
    // Before 2020-12, a list in `items` was a tuple.
    const isOld = Array.isArray(raw["items"]);
    const first = isOld ? raw["items"] : raw["prefixItems"];
    const items = isOld ? raw["additionalItems"] : raw["items"];
    const prefix = first === undefined ? [] : this.#readList(first, `${path}.${isOld ? "items" : "prefixItems"}`);
    const bounds = arrayBounds(raw, items === false ? prefix.length : null, (why) => {
      throw unsupported(path, why);
    });
    return {
      type: "array",
      ...(items === undefined || typeof items === "boolean" ? {} : { items: this.read(items, `${path}.items`) }),
      ...(prefix.length === 0 ? {} : { prefixItems: prefix }),
      ...bounds,
    };
  }

  #readObject(raw: Schema, path: string): Schema {
    const required = Array.isArray(raw["required"]) ? (raw["required"] as unknown[]).map(String) : [];
    const listed = isJsonObject(raw["properties"]) ? raw["properties"] : {};
    const more = raw["additionalProperties"];
    const unlisted = required.filter((name) => !Object.hasOwn(listed, name));
    if (unlisted.length > 0 && more === false)
      throw unsupported(path, `"${unlisted[0]}" is required but is not among the properties`);
    const given = Object.entries(listed).filter(([name, part]) => part !== false || required.includes(name));
    const all = Object.fromEntries([...given, ...unlisted.map((name) => [name, more ?? true] as const)]);
    const properties = this.#readAll(all, `${path}.properties`);
    const names = Object.keys(properties);
    const counts = arrayBounds({ minItems: raw["minProperties"], maxItems: raw["maxProperties"] }, null, (why) => {
      throw unsupported(path, why.replace("Items", "Properties"));
    });
    // Only an object without listed properties is free-form.
    if (names.length === 0) {
      if (more === false) return { type: "object", properties: {} };
      const values = isJsonObject(more) ? this.read(more, `${path}.additionalProperties`) : true;
      const { minItems, maxItems } = counts;
      const { propertyNames } = raw;
      return {
        type: "object",
        additionalProperties: values,
        ...(isJsonObject(propertyNames) ? listedNames(this.#merged(propertyNames, `${path}.propertyNames`, 0)) : {}),
        ...(minItems === undefined ? {} : { minProperties: minItems }),
        ...(maxItems === undefined ? {} : { maxProperties: maxItems }),
      };
    }
    if ((counts["minItems"] ?? 0) > names.length)
      throw unsupported(path, "minProperties is more than the properties that are listed");
    const mayOmit = this.#mayOmit && names.length <= MAX_OMITTABLE && counts["minItems"] === undefined;
    const optional = names.filter((name) => !required.includes(name) && (mayOmit || hasReference(all[name])));
    return { type: "object", properties, ...(optional.length === 0 ? {} : { optional }) };
  }

  #readAll(raw: unknown, path: string): Record<string, Schema> {
    if (raw === undefined) return {};
    if (!isJsonObject(raw)) throw unsupported(path, "is not an object");
    return Object.fromEntries(Object.entries(raw).map(([name, part]) => [name, this.read(part, `${path}.${name}`)]));
  }

  #readList(raw: unknown, path: string): Schema[] {
    if (!Array.isArray(raw) || raw.length === 0) throw unsupported(path, "is not a list of schemas");
    return raw.map((part, index) => this.read(part, `${path}.${index}`));
  }
}

function hasReference(schema: unknown): boolean {
  return JSON.stringify(schema).includes('"$ref":');
}

/** Returns the values of an `enum`. */
function literals(raw: Schema, path: string): unknown[] {
  const values = raw["enum"];
  if (!Array.isArray(values) || values.length === 0) throw unsupported(path, "enum is not a list of values");
  return values;
}

/** Returns the path of a reference to another location than a definition, from its name. */
function pathOf(name: string): string {
  return name.replace("#", ROOT_PATH).replaceAll("/", ".");
}

function missingDefinition(name: string): string {
  return `there is no definition ${JSON.stringify(name)}`;
}

function unsupported(path: string, why: string): UnsupportedSchema {
  return new UnsupportedSchema(`response_format.json_schema.${path}`, why);
}

/**
 * Returns the steps of a reference within a schema: a JSON Pointer (RFC 6901) in a URI fragment. Empty for `#`;
 * undefined for any other reference.
 */
function pointerSteps(ref: unknown): readonly string[] | undefined {
  if (typeof ref !== "string" || !/^#(?:\/|$)/.test(ref)) return undefined;
  try {
    const [, ...steps] = decodeURIComponent(ref).split("/");
    return steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  } catch {
    return undefined;
  }
}

/** Returns the reference of these steps, not encoded for a URI. */
function pointerOf(steps: readonly string[]): string {
  return `#${steps.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")}`;
}

/** Returns the value at a path; undefined if there is no value. */
function valueAt(root: unknown, steps: readonly string[]): unknown {
  let found = root;
  for (const step of steps) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[step];
  }
  return found;
}

/**
 * Returns the reference of a definition that leads back to itself before any value starts, such as `{"$ref": "#"}`;
 * undefined if there is no such reference. This is left recursion, which a grammar cannot express and which would never
 * end.
 */
function findLeftRecursion(root: Schema): string | undefined {
  const definitions = isJsonObject(root["$defs"]) ? root["$defs"] : {};
  const done = new Set<string>();
  const search = (schema: unknown, path: ReadonlySet<string>): string | undefined => {
    if (!isJsonObject(schema)) return undefined;
    const { $ref, oneOf } = schema;
    if (Array.isArray(oneOf)) return findFirst(oneOf, (each) => search(each, path));
    if (typeof $ref !== "string" || done.has($ref)) return undefined;
    if (path.has($ref)) return $ref;
    const found = search(definitions[$ref.slice("#/$defs/".length)], new Set([...path, $ref]));
    done.add($ref);
    return found;
  };
  return (
    search(root, new Set()) ??
    findFirst(Object.keys(definitions), (name) => search({ $ref: `#/$defs/${name}` }, new Set()))
  );
}

function findFirst<Item>(items: readonly Item[], find: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Error for two schemas that cannot be merged into one that a grammar can enforce. */
class UnmergedSchema extends Error {}

/**
 * Merges two schemas into one that allows what both allow, as grammars need it. Annotations of the second win.
 * @throws {UnmergedSchema} with the keyword that is in both schemas and cannot be merged
 */
function mergeSchemas(one: Schema, other: Schema, isAnnotation: (keyword: string) => boolean): Schema {
  const merged: Record<string, unknown> = { ...one };
  for (const [keyword, value] of Object.entries(other)) {
    const before = merged[keyword];
    const isNew = before === undefined || isAnnotation(keyword) || textOf(before) === textOf(value);
    merged[keyword] = isNew ? value : mergeKeyword(keyword, before, value);
  }
  return merged;
}

/** Texts of schemas by reference. Many references to a definition would otherwise write its text as often. */
const texts = new WeakMap<object, string>();

function textOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const text = texts.get(value) ?? JSON.stringify(value);
  texts.set(value, text);
  return text;
}

function mergeKeyword(keyword: string, before: unknown, value: unknown): unknown {
  if (keyword === "properties" && isJsonObject(before) && isJsonObject(value)) {
    const both = Object.keys(value).filter((name) => Object.hasOwn(before, name));
    return {
      ...before,
      ...value,
      ...Object.fromEntries(both.map((name) => [name, { allOf: [before[name], value[name]] }])),
    };
  }
  if (LISTS.has(keyword)) return [...new Set([...listOf(before), ...listOf(value)])];
  if (LARGER.has(keyword)) return Math.max(Number(before), Number(value));
  if (SMALLER.has(keyword)) return Math.min(Number(before), Number(value));
  if (keyword === "type") return commonTypes(listOf(before).map(String), listOf(value).map(String));
  if (keyword === "enum") return commonValues(listOf(before), listOf(value), keyword);
  // Only listed properties are generated, so a value that satisfies one schema also satisfies the other.
  if (keyword === "additionalProperties")
    return before === false || value === false ? false : { allOf: [before, value] };
  if (keyword === "items") return { allOf: [before, value] };
  if (keyword === "uniqueItems") return true;
  throw new UnmergedSchema(`keyword "${keyword}" cannot be merged with another "${keyword}"`);
}

function commonTypes(some: readonly string[], others: readonly string[]): unknown {
  const types = some.flatMap((type) => {
    if (others.includes(type)) return [type];
    if (type === "number" && others.includes("integer")) return ["integer"];
    return type === "integer" && others.includes("number") ? ["integer"] : [];
  });
  if (types.length === 0) throw new UnmergedSchema(`no value is both ${some.join("|")} and ${others.join("|")}`);
  return types;
}

function commonValues(some: readonly unknown[], others: readonly unknown[], keyword: string): unknown[] {
  const known = new Set(others.map(textOf));
  const both = some.filter((each) => known.has(textOf(each)));
  if (both.length === 0) throw new UnmergedSchema(`the lists of "${keyword}" have no value in common`);
  return both;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}
