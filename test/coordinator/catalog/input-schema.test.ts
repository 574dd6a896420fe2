import { describe, expect, it } from "vitest";
import { chatInputJsonSchema } from "../../../coordinator/catalog/default-schemas.ts";
import { schemaChecks, SchemaError } from "../../../coordinator/catalog/input-schema.ts";
import { MAX_SCHEMA_BYTES, MAX_SUBSCHEMAS } from "../../../coordinator/catalog/schema-rules.ts";

type Schema = Record<string, unknown>;

function problemsOf(schema: Schema): string[] {
  try {
    schemaChecks().assertUsable(schema);
  } catch (error) {
    if (error instanceof SchemaError) return error.problems.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
  return [];
}
const withText = (text: Schema): Schema => ({ type: "object", properties: { text } });

/** Creates definitions that each name the next one twice: 2^depth subschemas when expanded. */
function doubling(depth: number): Schema {
  const definitions = Array.from({ length: depth }, (_, i) => {
    const next = { $ref: `#/$defs/d${i + 1}` };
    return [`d${i}`, { allOf: [next, next] }];
  });
  return { $ref: "#/$defs/d0", $defs: { ...Object.fromEntries(definitions), [`d${depth}`]: { type: "object" } } };
}

describe("assertUsable() for a valid schema", () => {
  it.each<[string, Schema]>([
    ["the schema of chat", { ...chatInputJsonSchema }],
    ["an empty one", {}],
    ["its dialect by name", { $schema: "https://json-schema.org/draft/2020-12/schema" }],
    ["local definitions", { properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { type: "string" } } }],
    ["a definition that is named often", doubling(4)],
    [
      "words about a field",
      withText({ title: "T", description: "D", default: "x", examples: ["y"], deprecated: true }),
    ],
    ["unions of types", withText({ type: ["string", "null"] })],
    ["conditions", JSON.parse('{"if":{"required":["a"]},"then":{"required":["b"]},"else":false}') as Schema],
    ["a simple pattern", withText({ pattern: "^[a-z]{2}-[A-Z]{2}$" })],
    ["a pattern with one open quantifier", withText({ pattern: "^\\d{4}/[\\w.-]+$" })],
    ["a format", withText({ format: "date-time" })],
    ["unique items, if they are few", withText({ uniqueItems: true, maxItems: 100 })],
    ["a value that looks like a keyword", withText({ const: { $ref: "https://a.example" } })],
  ])("accepts %s", (_, schema) => {
    expect(problemsOf(schema)).toEqual([]);
  });
});

describe("assertUsable() for an invalid schema", () => {
  const nested = (depth: number): Schema => (depth === 0 ? {} : { not: nested(depth - 1) });

  it.each<[string, Schema, string]>([
    ["an invalid schema", withText({ minLength: -1 }), "properties.text.minLength: must be >= 0"],
    ["an unknown keyword", withText({ maxLenght: 1 }), "properties.text.maxLenght: is not an accepted keyword"],
    ["a schema that is a list", { not: [] }, "not: must be a schema"],
    ["a remote reference", { $ref: "https://a.example/s.json" }, "$ref: must name a definition of this schema"],
    ["a reference to a file", { $ref: "other.json#/a" }, "$ref: must name a definition of this schema"],
    ["a reference to itself", { $ref: "#" }, "$ref: must name a definition of this schema"],
    ["a reference to a missing definition", { $ref: "#/$defs/none" }, "$ref: names no definition"],
    ["a cycle", { $ref: "#/$defs/a", $defs: { a: { not: { $ref: "#/$defs/a" } } } }, "must not refer back to itself"],
    ["identifiers", { $id: "https://a.example/s" }, "$id: is not an accepted keyword"],
    ["dynamic references", { $dynamicRef: "#a" }, "$dynamicRef: is not an accepted keyword"],
    ["asynchronous checks", { $async: true }, "$async: is not an accepted keyword"],
    ["the old keyword dependencies", { dependencies: { a: {} } }, "dependencies: is not an accepted keyword"],
    ["patternProperties", { patternProperties: { "^a": {} } }, "patternProperties: is not an accepted keyword"],
    ["nested definitions", withText({ $defs: { a: {} } }), "properties.text.$defs: must be at the top level"],
    ["a schema that is too large", { description: "x".repeat(MAX_SCHEMA_BYTES) }, ": is 32786 bytes as JSON"],
    ["a schema that is nested too deeply", nested(40), "is nested deeper than 32 levels"],
    ["a small schema that expands too much", doubling(9), `: has more than ${MAX_SUBSCHEMAS} subschemas`],
    ["a long pattern", withText({ pattern: `^${"a".repeat(200)}` }), "pattern: has more than 200 characters"],
    ["a pattern without an anchor", withText({ pattern: "a+$" }), "pattern: must begin with ^"],
    ["nested quantifiers", withText({ pattern: "^(a+)+$" }), "pattern: may have only characters"],
    ["alternatives", withText({ pattern: "^a|b" }), "pattern: may have only characters"],
    ["look-around", withText({ pattern: "^(?=a)" }), "pattern: may have only characters"],
    ["back-references", withText({ pattern: "^\\1" }), "pattern: may have only characters"],
    [
      "two open quantifiers",
      withText({ pattern: "^a*a*$" }),
      "pattern: may have only one quantifier of variable length",
    ],
    [
      "two bounded quantifiers",
      withText({ pattern: "^a{0,9}a?$" }),
      "pattern: may have only one quantifier of variable",
    ],
    ["an invalid pattern", withText({ pattern: "^[z-a]" }), "Invalid regular expression"],
    ["an unknown format", withText({ format: "iri-reference" }), "format: must be one of date, "],
    ["uniqueItems without maxItems", withText({ uniqueItems: true }), "uniqueItems: requires maxItems"],
    ["a long list of values", withText({ enum: Array.from({ length: 501 }, (_, i) => i) }), "enum: has more than 500"],
  ])("rejects %s", (title, schema, problem) => {
    expect(problemsOf(schema), title).toEqual([expect.stringContaining(problem)]);
  });
  it("reports all problems at once", () => {
    expect(problemsOf({ properties: { a: { pattern: "b" }, c: { format: "d" } }, $id: "e" })).toHaveLength(3);
  });
});

describe("schemaChecks()", () => {
  it("compiles a schema once, and caches no more than its limit", () => {
    const schemas = schemaChecks(2);
    const all = Array.from({ length: 5 }, (_, i) => ({ type: "object", required: [`field${i}`] }));
    for (const round of [1, 2]) {
      for (const [i, schema] of all.entries()) {
        expect([round, schemas.errorsOf(schema, {}, 2)]).toEqual([
          round,
          [{ path: `field${i}`, message: "is required" }],
        ]);
      }
    }
    expect(schemas.size).toBe(2);
  });
  it("does not compile a schema again when it is read again", () => {
    const schemas = schemaChecks();
    const read = (): Schema => JSON.parse('{"type":"object","required":["text"]}') as Schema;
    for (const schema of [read(), read()]) {
      schemas.assertUsable(schema);
      expect(schemas.errorsOf(schema, {}, 2)).toEqual([{ path: "text", message: "is required" }]);
    }
    expect(schemas.size).toBe(1);
  });
  it("keeps nothing of a rejected schema", () => {
    const schemas = schemaChecks();
    expect(() => schemas.assertUsable(withText({ pattern: "^[z-a]" }))).toThrow(SchemaError);
    expect(schemas.size).toBe(0);
  });
  it("lists at most 100 errors", () => {
    const schema = { type: "object", properties: { a: { type: "array", items: { type: "string" } } } };
    const input = { a: Array.from({ length: 500 }, () => 1) };
    expect(schemaChecks().errorsOf(schema, input, 1_000)).toHaveLength(100);
  });
});

describe("a check that would block the event loop", () => {
  const ofItems = (items: Schema): Schema => ({ type: "object", properties: { a: { type: "array", items } } });
  const allOf = (count: number, each: Schema): Schema => ({ allOf: Array.from({ length: count }, () => each) });
  const numbers = (count: number): number[] => Array.from({ length: count }, () => -1);
  const check = (schema: Schema, value: object) => {
    const schemas = schemaChecks();
    schemas.assertUsable(schema);
    const bytes = JSON.stringify(value).length;
    return [schemas.errorsOf(schema, value, bytes).map(({ message }) => message), schemas.fits(schema, value, bytes)];
  };
  const notChecked = [["has too many values to check against the Cargo's schema"], true];

  // Without the limit, each of these checks took 1 to 30 s.
  it.each<[string, Schema, object]>([
    ["many subschemas", ofItems(allOf(480, { minimum: 0 })), { a: numbers(100_000) }],
    ["names", ofItems({ required: Array.from({ length: 4_000 }, (_, i) => `f${i}`) }), { a: numbers(20_000) }],
    ["long texts", withText(allOf(480, { maxLength: 1 })), { text: "x".repeat(1_000_000) }],
  ])("is skipped because of its %s", (_, schema, value) => {
    expect(check(schema, value)).toEqual(notChecked);
  });

  it.each<[string, Schema, object]>([
    ["pairs", ofItems(allOf(200, { uniqueItems: true, maxItems: 1_000 })), { a: [numbers(1_000)] }],
    ["values of enum", ofItems(allOf(12, { enum: Array.from({ length: 500 }, (_, i) => i) })), { a: numbers(10_000) }],
    [
      "properties with other subschemas",
      { type: "object", properties: Object.fromEntries(numbers(490).map((each, i) => [`p${i}`, { maximum: each }])) },
      { p0: 0, text: numbers(50_000) },
    ],
  ])("is not assumed for many %s, whose check takes linear time", (_, schema, value) => {
    expect(check(schema, value)[1]).toBe(false);
  });

  it("is the only one skipped: other checks run, even for a large value", () => {
    const embeddings = ofItems({ type: "array", items: { type: "number" } });
    expect(check(embeddings, { a: [numbers(500_000)] })).toEqual([[], true]);
    expect(check(embeddings, { a: [[...numbers(500_000), "x"]] })).toEqual([["must be number"], false]);
    const few = withText({ type: "array", maxItems: 1_000, uniqueItems: true, items: { type: "string" } });
    const texts = Array.from({ length: 1_000 }, (_, i) => `${i}`.padStart(240, "x"));
    expect(check(few, { text: texts })).toEqual([[], true]);
    expect(check(few, { text: [...texts.slice(1), texts[1]] })[1]).toBe(false);
  });
});
