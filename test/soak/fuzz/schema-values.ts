import fc from "fast-check";
import type { Schema } from "../../support/http/closed-schemas.ts";

/** Supported keywords of a request schema. */
interface RequestSchema extends Schema {
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly format?: string;
}

type Values = fc.Arbitrary<unknown>;
/** Useful values beyond the schema, by the name of a parameter or of a component's member ("SubmitJob.input"). */
export type Hints = Readonly<Record<string, Values>>;

const PREFIX = "#/components/schemas/";
const MAX_DEPTH = 6;
const MAX_ITEMS = 3;

/** Generates values that are usually valid for a schema of the OpenAPI document. */
export class SchemaValues {
  readonly #components: Readonly<Record<string, Schema>>;
  readonly #hints: Hints;

  constructor(components: Readonly<Record<string, Schema>>, hints: Hints) {
    this.#components = components;
    this.#hints = hints;
  }

  of(schema: Schema, depth = 0, owner = ""): Values {
    if (schema.$ref !== undefined) return this.#component(schema.$ref.slice(PREFIX.length), depth);
    const { const: only, enum: choices, type } = schema as RequestSchema;
    if (only !== undefined) return fc.constant(only);
    if (choices !== undefined) return fc.constantFrom(...choices);
    const branches = schema.oneOf ?? schema.anyOf;
    if (branches !== undefined) return fc.oneof(...branches.map((branch) => this.of(branch, depth, owner)));
    if (typeof type === "object") return fc.oneof(...type.map((each) => this.#ofType(each, schema, depth, owner)));
    return type === undefined ? fc.jsonValue({ maxDepth: 2 }) : this.#ofType(type, schema, depth, owner);
  }

  /** @param name key of the value in the hints. */
  named(name: string, schema: Schema, depth = 0): Values {
    const plain = this.of(schema, depth);
    const hint = this.#hints[name];
    return hint === undefined ? plain : fc.oneof({ weight: 9, arbitrary: hint }, { weight: 1, arbitrary: plain });
  }

  #component(name: string, depth: number): Values {
    const schema = this.#components[name];
    if (schema === undefined) throw new Error(`${name} is not in the document`);
    return this.of(schema, depth, `${name}.`);
  }

  #ofType(type: string, schema: RequestSchema, depth: number, owner: string): Values {
    if (depth > MAX_DEPTH || type === "null") return fc.constant(null);
    if (type === "boolean") return fc.boolean();
    if (type === "integer") return fc.integer({ min: schema.minimum ?? -10, max: schema.maximum ?? 1_000_000 });
    if (type === "number") {
      return fc.double({ min: schema.minimum ?? 0, max: schema.maximum ?? 1, noNaN: true, noDefaultInfinity: true });
    }
    if (type === "string") return textOf(schema);
    if (type === "array") return this.#list(schema, depth);
    return this.#record(schema, depth, owner);
  }

  #list({ items = {}, minItems = 0, maxItems = MAX_ITEMS }: RequestSchema, depth: number): Values {
    const maxLength = Math.max(minItems, Math.min(maxItems, MAX_ITEMS));
    return fc.array(this.of(items, depth + 1), { minLength: minItems, maxLength });
  }

  #record(schema: RequestSchema, depth: number, owner: string): Values {
    const { properties = {}, required = [], additionalProperties } = schema;
    const members = Object.entries(properties).map(([name, member]) => [
      name,
      this.named(`${owner}${name}`, member, depth + 1),
    ]);
    const named = fc.record(Object.fromEntries(members) as Record<string, Values>, { requiredKeys: [...required] });
    if (typeof additionalProperties !== "object") return named;
    const others = fc.dictionary(fc.string({ maxLength: 8 }), this.of(additionalProperties, depth + 1), { maxKeys: 3 });
    return fc.tuple(named, others).map(([own, more]) => ({ ...more, ...own }));
  }
}

function textOf({ pattern, format, minLength = 0, maxLength = 40 }: RequestSchema): Values {
  if (format === "uuid") return fc.uuid();
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  return fc.string({ unit: "grapheme", minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) });
}
