import { grammarSchemaOf } from "./grammar-schema.ts";
import { type JsonSet, jsonSetOf } from "../json-set.ts";
import { isJsonObject } from "../json-value.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Number of steps after which a value counts as fitting, so that a check takes at most a few ms. */
const MAX_STEPS = 100_000;
/** Limit of nesting levels, including references. The stack overflows at about 1,000 levels. */
const MAX_DEPTH = 200;
/** Number of characters that are compared in a step. */
const CHARS_PER_STEP = 8;
const REF = "#/$defs/";

/**
 * Returns whether a value could have come from the grammar of a JSON Schema (`grammarSchemaOf`): objects with all
 * listed properties and no others. Formats and patterns of strings and bounds of numbers are not checked. The cost is
 * bounded; beyond the bound every value fits.
 * @throws {UnsupportedSchema}
 */
export function fitsGrammar(value: unknown, schema: Schema): boolean {
  return fitsRead(value, grammarSchemaOf(schema));
}

/** Returns the same as {@link fitsGrammar} for a schema that `grammarSchemaOf` returned. */
export function fitsRead(value: unknown, read: Schema): boolean {
  return !isDeeper(value, MAX_DEPTH) && new GrammarFit().fits(value, read, {});
}

/** Checks level by level, because an Island's value may be nested deeper than the stack. */
function isDeeper(value: unknown, levels: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > levels) return true;
    level = level.flatMap((each): unknown[] => (typeof each === "object" && each !== null ? Object.values(each) : []));
  }
  return false;
}

class GrammarFit {
  #steps = 0;
  /** The values of each `enum` and `const`, by the schema that contains it. */
  readonly #sets = new Map<Schema, JsonSet>();
  readonly #optional = new Map<Schema, ReadonlySet<unknown>>();

  /** @param defs the definitions that `$ref` may name */
  fits(value: unknown, schema: unknown, defs: Schema): boolean {
    if ((this.#steps += 1) > MAX_STEPS || !isJsonObject(schema)) return true;
    const { $defs, $ref, oneOf, type } = schema;
    const known = isJsonObject($defs) ? { ...defs, ...$defs } : defs;
    if (typeof $ref === "string") return this.fits(value, known[$ref.slice(REF.length)], known);
    if (Array.isArray(oneOf)) return oneOf.some((each) => this.fits(value, each, known));
    if ("const" in schema) return this.#isMember(value, schema, [schema["const"]]);
    if (Array.isArray(schema["enum"])) return this.#isMember(value, schema, schema["enum"]);
    const types: readonly unknown[] = Array.isArray(type) ? type : [type];
    return types.some((each) => this.#isA(value, each, schema, known));
  }

  #isMember(value: unknown, schema: Schema, members: readonly unknown[]): boolean {
    const set = this.#sets.get(schema) ?? jsonSetOf(members);
    this.#sets.set(schema, set);
    if (typeof value === "object" && value !== null) this.#steps += set.maxChars / CHARS_PER_STEP;
    return set.has(value);
  }

  #isA(value: unknown, type: unknown, schema: Schema, defs: Schema): boolean {
    switch (type) {
      case "object":
        return isJsonObject(value) && this.#isObject(value, schema, defs);
      case "array":
        return Array.isArray(value) && this.#isArray(value, schema, defs);
      case "string":
        return typeof value === "string" && this.#isText(value, schema);
      case "integer":
        return Number.isInteger(value);
      case "null":
        return value === null;
      default:
        return typeof value === type;
    }
  }

  #isText(value: string, { minLength, maxLength }: Schema): boolean {
    if (minLength === undefined && maxLength === undefined) return true;
    this.#steps += value.length / CHARS_PER_STEP;
    return isWithin(Array.from(value).length, minLength, maxLength);
  }

  #isObject(value: Schema, schema: Schema, defs: Schema): boolean {
    const { properties, additionalProperties, minProperties, maxProperties, optional } = schema;
    const names = Object.keys(value);
    if (!isJsonObject(properties)) {
      const fits = names.every((name) => this.fits(value[name], additionalProperties, defs));
      return fits && isWithin(names.length, minProperties, maxProperties);
    }
    const listed = Object.entries(properties);
    if (names.some((name) => !Object.hasOwn(properties, name))) return false;
    this.#steps += listed.length;
    const mayMiss = this.#optional.get(schema) ?? new Set<unknown>(Array.isArray(optional) ? optional : []);
    this.#optional.set(schema, mayMiss);
    return listed.every(([name, part]) =>
      Object.hasOwn(value, name) ? this.fits(value[name], part, defs) : mayMiss.has(name),
    );
  }

  #isArray(value: readonly unknown[], { items, prefixItems, minItems, maxItems }: Schema, defs: Schema): boolean {
    const first: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : [];
    if (!isWithin(value.length, minItems ?? first.length, maxItems)) return false;
    return value.every((each, at) => this.fits(each, at < first.length ? first[at] : items, defs));
  }
}

function isWithin(size: number, min: unknown, max: unknown): boolean {
  return size >= (typeof min === "number" ? min : 0) && size <= (typeof max === "number" ? max : Infinity);
}
