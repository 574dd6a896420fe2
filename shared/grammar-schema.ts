import { costProblem } from "./grammar-cost.ts";
import { isJsonObject } from "./json-value.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Keywords without effect on which values are valid. */
const ANNOTATIONS = new Set(
  "$schema $id $comment $anchor title description default examples example deprecated readOnly writeOnly nullable".split(
    " ",
  ),
);
/** Keywords that only narrow a value, which a grammar cannot express. They are ignored, so the shape is still right; `strict` refuses them. */
const NARROWING = new Set(
  "pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf uniqueItems contentEncoding contentMediaType".split(
    " ",
  ),
);
const FORMATS = new Set(["date-time", "time", "date"]);
const UNDERSTOOD = new Set(
  (
    "type enum const anyOf oneOf allOf $ref $defs definitions format minLength maxLength items prefixItems minItems maxItems " +
    "properties required additionalProperties minProperties maxProperties"
  ).split(" "),
);
/**
 * A grammar grows with the bounds and the nodes of its schema, and compiling it blocks every other run; see grammar-cost.ts. llama.cpp
 * refuses 2,000 repeats and more.
 */
const MAX_REPEATS = 1_999;
const MAX_NODES = 1_000;
/** Parts of a schema that allows any value. */
const NODES_OF_ANY = 4;
const ANY_SCALAR = ["string", "number", "boolean", "null"] as const;

/**
 * Converts a JSON Schema to the subset that node-llama-cpp's grammars support. Objects get all listed properties and no others,
 * which is valid where more or fewer are allowed. The coordinator asks before it takes a job, and the agent again, which compiles it.
 * @throws {UnsupportedSchema} naming the place and what is not supported there, or what is too costly.
 */
export function grammarSchemaOf(schema: Schema, isStrict: boolean): Schema {
  const read = new SchemaReader(isStrict).readRoot(schema);
  const problem = costProblem(read);
  if (problem !== null) throw unsupported("schema", problem);
  return read;
}

/** No grammar can keep the schema, or it would cost too much. `path` begins with "response_format". */
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
  readonly #isStrict: boolean;
  #nodes = 0;
  /** References, by name, with the place of the first. */
  readonly #references = new Map<string, string>();

  constructor(isStrict: boolean) {
    this.#isStrict = isStrict;
  }

  /** References name definitions of the root alone: what is defined deeper is out of their reach, and is left out. */
  readRoot(raw: Schema): Schema {
    const core = this.read(raw, "schema");
    const defs = {
      ...this.#readAll(raw["definitions"], "schema.definitions"),
      ...this.#readAll(raw["$defs"], "schema.$defs"),
    };
    for (const [name, path] of this.#references) {
      if (!Object.hasOwn(defs, name)) throw unsupported(path, `there is no definition ${JSON.stringify(name)}`);
    }
    return Object.keys(defs).length === 0 ? core : { ...core, $defs: defs };
  }

  read(raw: unknown, path: string): Schema {
    if (++this.#nodes > MAX_NODES) throw unsupported(path, `more than ${MAX_NODES} parts are not supported`);
    if (raw === true) return this.#anyValue();
    if (!isJsonObject(raw)) throw unsupported(path, "is not a schema");
    this.#checkKeywords(raw, path);
    const ref = raw["$ref"];
    if (ref !== undefined) return { $ref: this.#referenceTo(ref, path) };
    const choices = raw["oneOf"] ?? raw["anyOf"];
    if (choices !== undefined) return { oneOf: this.#readList(choices, path) };
    if (raw["allOf"] !== undefined) return this.#readOnly(raw["allOf"], path);
    if (raw["const"] !== undefined) return { const: literal(raw["const"], path) };
    if (raw["enum"] !== undefined) return { enum: literals(raw["enum"], path) };
    const types = typesOf(raw);
    if (types.length === 0) return this.#anyValue();
    const [only] = types;
    if (types.length === 1 && only !== undefined) return this.#readTyped(only, raw, path);
    return { oneOf: types.map((type) => this.#readTyped(type, raw, path)) };
  }

  #anyValue(): Schema {
    this.#nodes += NODES_OF_ANY - 1;
    return { oneOf: [{ type: ANY_SCALAR }, { type: "array" }, { type: "object", additionalProperties: true }] };
  }

  #referenceTo(ref: unknown, path: string): string {
    const name = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(String(ref))?.[1];
    if (name === undefined)
      throw unsupported(path, `reference ${JSON.stringify(ref)} is not of the form "#/$defs/name"`);
    if (!this.#references.has(name)) this.#references.set(name, path);
    return `#/$defs/${name}`;
  }

  #readTyped(type: string, raw: Schema, path: string): Schema {
    switch (type) {
      case "object":
        return this.#readObject(raw, path);
      case "array":
        return {
          type,
          ...(raw["items"] === undefined || raw["items"] === true
            ? {}
            : { items: this.read(raw["items"], `${path}.items`) }),
          ...(raw["prefixItems"] === undefined
            ? {}
            : { prefixItems: this.#readList(raw["prefixItems"], `${path}.prefixItems`) }),
          ...bounds(raw, ["minItems", "maxItems"], path),
        };
      case "string": {
        const format = raw["format"];
        return typeof format === "string" && FORMATS.has(format)
          ? { type, format }
          : { type, ...bounds(raw, ["minLength", "maxLength"], path) };
      }
      case "number":
      case "integer":
      case "boolean":
      case "null":
        return { type };
      default:
        throw unsupported(path, `type "${type}" is not known`);
    }
  }

  #readObject(raw: Schema, path: string): Schema {
    const properties = this.#readAll(raw["properties"], `${path}.properties`);
    const more = raw["additionalProperties"];
    const names = Object.keys(properties);
    for (const name of Array.isArray(raw["required"]) ? (raw["required"] as unknown[]) : []) {
      if (!names.includes(String(name)))
        throw unsupported(path, `"${String(name)}" is required but is not among the properties`);
    }
    // Only an object without listed properties is free-form.
    if (names.length > 0) return { type: "object", properties };
    if (more === false) return { type: "object", properties: {} };
    const values = isJsonObject(more) ? this.read(more, `${path}.additionalProperties`) : true;
    return { type: "object", additionalProperties: values, ...bounds(raw, ["minProperties", "maxProperties"], path) };
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

  /** `allOf` of one schema is that schema; more would have to be merged. */
  #readOnly(raw: unknown, path: string): Schema {
    const [only, ...others] = this.#readList(raw, `${path}.allOf`);
    if (only === undefined || others.length > 0)
      throw unsupported(path, 'keyword "allOf" with several schemas is not supported');
    return only;
  }

  #checkKeywords(raw: Schema, path: string): void {
    for (const keyword of Object.keys(raw)) {
      if (ANNOTATIONS.has(keyword)) continue;
      const isNarrowing = NARROWING.has(keyword) || (keyword === "format" && !FORMATS.has(String(raw[keyword])));
      if (isNarrowing && !this.#isStrict) continue;
      if (isNarrowing || !UNDERSTOOD.has(keyword)) throw unsupported(path, `keyword "${keyword}" is not supported`);
    }
  }
}

function typesOf(raw: Schema): readonly string[] {
  const type = raw["type"];
  if (Array.isArray(type)) return type.map(String);
  if (typeof type === "string") return [type];
  if (raw["properties"] !== undefined || raw["additionalProperties"] !== undefined) return ["object"];
  if (raw["items"] !== undefined || raw["prefixItems"] !== undefined) return ["array"];
  return [];
}

function literals(raw: unknown, path: string): unknown[] {
  if (!Array.isArray(raw) || raw.length === 0) throw unsupported(path, "enum is not a list of values");
  return raw.map((value) => literal(value, path));
}

function literal(value: unknown, path: string): unknown {
  if (typeof value === "object" && value !== null)
    throw unsupported(path, "only strings, numbers, booleans and null can be listed");
  return value;
}

function bounds(raw: Schema, names: readonly string[], path: string): Record<string, number> {
  const given = names.filter((name) => raw[name] !== undefined);
  return Object.fromEntries(
    given.map((name) => {
      const value = raw[name];
      if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > MAX_REPEATS) {
        throw unsupported(path, `${name} is not an integer in 0..${MAX_REPEATS}`);
      }
      return [name, value];
    }),
  );
}

function unsupported(path: string, why: string): UnsupportedSchema {
  return new UnsupportedSchema(`response_format.json_schema.${path}`, why);
}
