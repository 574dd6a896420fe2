import { describe, expect, it } from "vitest";
import { grammarSchemaOf } from "../../../../island-agent/runtimes/llmcpp/json-schema.ts";

const read = (schema: Record<string, unknown>, isStrict = false): unknown => grammarSchemaOf(schema, isStrict);

describe("grammarSchemaOf()", () => {
  it.each([
    ["annotations are dropped", { $schema: "x", title: "T", type: "string", examples: ["a"] }, { type: "string" }],
    [
      "anyOf becomes oneOf",
      { anyOf: [{ type: "null" }, { type: "integer" }] },
      { oneOf: [{ type: "null" }, { type: "integer" }] },
    ],
    [
      "a list of types becomes oneOf, each with its own keywords",
      { type: ["string", "null"], maxLength: 3 },
      { oneOf: [{ type: "string", maxLength: 3 }, { type: "null" }] },
    ],
    [
      "an object is closed over its properties",
      { type: "object", properties: { a: { type: "boolean" } }, required: ["a"], additionalProperties: true },
      { type: "object", properties: { a: { type: "boolean" } } },
    ],
    [
      "a map keeps the schema of its values",
      { type: "object", additionalProperties: { type: "number" }, maxProperties: 3 },
      { type: "object", additionalProperties: { type: "number" }, maxProperties: 3 },
    ],
    ["an object is known by its properties", { properties: {} }, { type: "object", additionalProperties: true }],
    [
      "definitions become $defs",
      { definitions: { A: { type: "null" } }, $ref: "#/definitions/A" },
      { $ref: "#/$defs/A", $defs: { A: { type: "null" } } },
    ],
    ["allOf of one schema is that schema", { allOf: [{ type: "null" }] }, { type: "null" }],
    ["a known format is kept", { type: "string", format: "date" }, { type: "string", format: "date" }],
    ["an unknown format is left out", { type: "string", format: "email" }, { type: "string" }],
    ["a range is left out", { type: "integer", minimum: 1 }, { type: "integer" }],
  ])("%s", (_fact, schema, expected) => {
    expect(read(schema)).toEqual(expected);
  });

  it("takes any value where the schema says nothing", () => {
    expect(read({ type: "array", items: {} })).toMatchObject({ items: { oneOf: expect.any(Array) } });
  });

  it.each([
    ["a keyword that it does not know", { if: {} }, 'schema: keyword "if" is not supported'],
    [
      "its place",
      { properties: { a: { items: { not: {} } } } },
      'schema.properties.a.items: keyword "not" is not supported',
    ],
    ["a type that is none", { type: "matrix" }, 'schema: type "matrix" is not known'],
    ["a foreign reference", { $ref: "https://example.com/x" }, "is not of the form"],
    ["several schemas that all apply", { allOf: [{ type: "null" }, {}] }, '"allOf" with several schemas'],
    ["a required property that has no schema", { type: "object", required: ["a"] }, '"a" is required'],
    ["values that are no scalars", { enum: [{}] }, "only strings, numbers, booleans and null"],
    ["a bound beyond measure", { type: "string", maxLength: 1_000_000 }, "maxLength is not an integer in 0..2000"],
    ["false", { properties: { a: false } }, "schema.properties.a: is not a schema"],
  ])("refuses and names %s", (_what, schema, message) => {
    expect(() => read(schema)).toThrow(message);
  });

  it("refuses in strict mode what would only be left out", () => {
    expect(() => read({ type: "integer", minimum: 1 }, true)).toThrow('keyword "minimum" is not supported');
  });

  it("refuses a schema of more parts than can be compiled in good time", () => {
    const properties = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`p${index}`, { type: "null" }]));
    expect(() => read({ type: "object", properties })).toThrow("more than 1000 parts");
  });
});
