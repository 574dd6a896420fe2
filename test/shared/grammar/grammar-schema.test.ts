import { describe, expect, it } from "vitest";
import { isFirstGrammar } from "../../../shared/grammar/grammar-keywords.ts";
import { grammarSchemaOf } from "../../../shared/grammar/grammar-schema.ts";

const read = (schema: Record<string, unknown>): unknown => grammarSchemaOf(schema);

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
    ["a range is kept", { type: "integer", minimum: 1, title: "I" }, { type: "integer", minimum: 1 }],
    ["a pattern is kept", { type: "string", pattern: "^a$" }, { type: "string", pattern: "^a$" }],
    ["a long upper bound is left to the check", { type: "string", maxLength: 5_000 }, { type: "string" }],
    ["values may be of any kind", { enum: [{ a: [1] }, 2] }, { enum: [{ a: [1] }, 2] }],
    [
      "a required property that is not listed has any value",
      { type: "object", required: ["a"], additionalProperties: { type: "null" } },
      { type: "object", properties: { a: { type: "null" } } },
    ],
    [
      "a property that allows no value is left out",
      { properties: { a: false, b: { type: "null" } } },
      { type: "object", properties: { b: { type: "null" } } },
    ],
    [
      "several schemas that all apply become one",
      {
        allOf: [
          { properties: { a: { type: "integer", minimum: 1 } }, required: ["a"] },
          { properties: { a: { minimum: 3 }, b: { type: "null" } } },
        ],
      },
      { type: "object", properties: { a: { type: "integer", minimum: 3 }, b: { type: "null" } } },
    ],
    [
      "what stands beside alternatives applies to each",
      { type: "object", properties: { a: { type: "null" } }, anyOf: [{ properties: { b: { type: "null" } } }] },
      { oneOf: [{ type: "object", properties: { a: { type: "null" }, b: { type: "null" } } }] },
    ],
    [
      "keywords beside a reference apply, too",
      { $defs: { A: { type: "string", maxLength: 9 } }, properties: { a: { $ref: "#/$defs/A", maxLength: 3 } } },
      {
        type: "object",
        properties: { a: { type: "string", maxLength: 3 } },
        optional: ["a"],
        $defs: { A: { type: "string", maxLength: 9 } },
      },
    ],
    [
      "recursion may end where a property is not required",
      { type: "object", properties: { a: { $ref: "#" } } },
      {
        type: "object",
        properties: { a: { $ref: "#/$defs/#" } },
        optional: ["a"],
        $defs: { "#": { type: "object", properties: { a: { $ref: "#/$defs/#" } }, optional: ["a"] } },
      },
    ],
    [
      "a reference may name another place of the schema",
      {
        properties: { a: { $ref: "#/properties/b~1c/items" }, "b/c": { type: "array", items: { type: "null" } } },
        required: ["a", "b/c"],
      },
      {
        type: "object",
        properties: {
          a: { $ref: "#/$defs/#/properties/b~1c/items" },
          "b/c": { type: "array", items: { type: "null" } },
        },
        $defs: { "#/properties/b~1c/items": { type: "null" } },
      },
    ],
    [
      "a place that refers to itself may end where it is not required",
      { properties: { a: { properties: { next: { $ref: "#/properties/a" } } } } },
      {
        type: "object",
        properties: {
          a: { type: "object", properties: { next: { $ref: "#/$defs/#/properties/a" } }, optional: ["next"] },
        },
        optional: ["a"],
        $defs: {
          "#/properties/a": {
            type: "object",
            properties: { next: { $ref: "#/$defs/#/properties/a" } },
            optional: ["next"],
          },
        },
      },
    ],
    [
      "names in references are decoded",
      { $defs: { "a/b c": { type: "null" } }, items: { $ref: "#/$defs/a~1b%20c" } },
      { type: "array", items: { $ref: "#/$defs/a/b c" }, $defs: { "a/b c": { type: "null" } } },
    ],
    [
      "a tuple ends where no more items are allowed",
      { type: "array", prefixItems: [{ type: "null" }], items: false },
      { type: "array", prefixItems: [{ type: "null" }], maxItems: 1 },
    ],
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
    ["a reference to no place", { items: { $ref: "#/properties/a" } }, 'reference "#/properties/a" leads nowhere'],
    ["a reference to no schema", { items: { $ref: "#/items/$ref" } }, "schema.items.$ref: is not a schema"],
    ["a reference to nothing", { items: { $ref: "#/$defs/A" } }, 'schema.items: there is no definition "A"'],
    [
      "schemas that exclude each other",
      { allOf: [{ type: "null" }, { type: "string" }] },
      "no value is both null and string",
    ],
    ["patterns that both apply", { allOf: [{ pattern: "a" }, { pattern: "b" }] }, 'another "pattern" beside it'],
    ["a schema that is merged with itself", { $ref: "#", minLength: 1 }, "refers to itself, in allOf"],
    ["a required property that is excluded", { required: ["a"], additionalProperties: false }, '"a" is required'],
    ["a lower bound beyond measure", { type: "string", minLength: 2_000 }, "minLength is not an integer in 0..1999"],
    ["bounds without a number between", { type: "number", minimum: 2, maximum: 1 }, "no number is within the bounds"],
    ["a pattern that is none", { type: "string", pattern: "(" }, 'pattern "(" is no regular expression'],
    ["false", { properties: { a: false }, required: ["a"] }, "schema.properties.a: allows no value"],
  ])("refuses and names %s", (_what, schema, message) => {
    expect(() => read(schema)).toThrow(message);
  });

  it("refuses a schema of more parts than can be compiled in good time", () => {
    const properties = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`p${index}`, { type: "null" }]));
    expect(() => read({ type: "object", properties })).toThrow("more than 1000 parts");
  });

  describe("the cost of a schema", () => {
    const text = (maxLength: number) => ({ type: "string", maxLength });
    const object = (properties: Record<string, unknown>) => ({ type: "object", properties });
    const many = (count: number, part: (index: number) => unknown) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, part(index)]));
    const list = (count: number, part: (index: number) => unknown) =>
      Array.from({ length: count }, (_, index) => part(index));

    it("is refused for many bounded strings, with the bound", () => {
      expect(() => read(object(many(990, (index) => text(1_010 + index))))).toThrow(
        "response_format.json_schema.schema: its lengths and numbers of items and properties add up to 1489455; at most 20000",
      );
      expect(read(object(many(20, () => text(1_000))))).toMatchObject({ type: "object" });
    });

    it("counts bounds wherever they are, and no property that is named like one", () => {
      const deep = { type: "array", maxItems: 1_999, items: { anyOf: [text(1_999), { $ref: "#/$defs/a" }] } };
      const $defs = Object.fromEntries("abcdefghi".split("").map((name) => [name, text(1_999)]));
      expect(() => read({ ...deep, $defs })).toThrow("add up to 21989");
      expect(read(object({ maxLength: text(5) }))).toMatchObject({ type: "object" });
    });

    it.each([
      ["values", { enum: list(251, String) }],
      ["alternatives that begin alike", { anyOf: list(251, () => text(50)) }],
      [
        "alternatives inside of alternatives that begin alike",
        { anyOf: list(20, (i) => object({ a: { anyOf: list(20, (j) => text(i + j)) } })) },
      ],
    ])("is refused for more than 250 %s", (_what, schema) => {
      expect(() => read(schema)).toThrow("at most 250 are supported");
    });

    it("does not add up what the first property tells apart", () => {
      const kinds = list(20, (i) => object({ kind: { const: `k${i}` }, a: { enum: list(20, (j) => `${i} ${j}`) } }));
      expect(read({ anyOf: kinds })).toMatchObject({ oneOf: expect.any(Array) });
    });

    it("adds up what begins like one of them, though others begin otherwise", () => {
      const kinds = list(20, (i) => object({ kind: { const: `k${i}` }, a: { enum: list(20, (j) => `${i} ${j}`) } }));
      const anyKind = object({ kind: { type: "string" }, a: { enum: ["x"] } });
      expect(() => read({ anyOf: [...kinds, anyKind] })).toThrow("up to 401 alternatives");
      expect(() => read({ anyOf: [anyKind, ...kinds] })).toThrow("up to 401 alternatives");
    });

    it("is refused for references that each bring as many alternatives: they are not written out first", () => {
      const $defs = { A: { enum: list(20_000, String) } };
      const anyOf = list(900, () => ({ $ref: "#/$defs/A" }));
      expect(() => read({ $defs, anyOf })).toThrow("expand to too many parts");
    });

    it("counts a part that allows any value as the parts that it has", () => {
      expect(() => read(object(many(500, () => true)))).toThrow("more than 1000 parts");
    });

    const arrayOf = (items: unknown) => ({ type: "array", items, minItems: 1 });
    it("is refused for a reference back from alternatives that begin alike: each level would double what is open", () => {
      const $ref = "#/$defs/E";
      const $defs = { E: { anyOf: [arrayOf({ $ref }), { ...arrayOf({ $ref }), maxItems: 9 }] } };
      expect(() => read({ $ref, $defs })).toThrow("#/$defs/E refers back to itself from alternatives that begin alike");
    });

    it("is not evaded by definitions inside of a part, which references do not reach", () => {
      const $ref = "#/$defs/E";
      const $defs = { E: { anyOf: [arrayOf({ $ref }), { ...arrayOf({ $ref }), maxItems: 9 }] } };
      expect(() => read(object({ a: { $ref, $defs } }))).toThrow('schema.properties.a: there is no definition "E"');
      expect(read({ ...object({ a: { $ref, $defs } }), $defs: { E: { type: "null" } } })).toEqual({
        ...object({ a: { $ref } }),
        optional: ["a"],
        $defs: { E: { type: "null" } },
      });
    });

    it("takes references back that do not: trees, linked lists, tagged expressions", () => {
      const $ref = "#/$defs/E";
      const tree = object({ name: { type: "string" }, children: { type: "array", items: { $ref } } });
      const linked = object({ next: { anyOf: [{ type: "null" }, { $ref }] } });
      const tagged = {
        anyOf: ["add", "mul"].map((op) => object({ op: { const: op }, left: { $ref }, right: { $ref } })),
      };
      for (const E of [tree, linked, tagged]) expect(read({ $ref, $defs: { E } })).toMatchObject({ $ref });
    });

    it("is refused for references that lead back before any value begins", () => {
      const to = (name: string) => ({ $ref: `#/$defs/${name}` });
      for (const schema of [{ $ref: "#" }, { ...to("a"), $defs: { a: to("b"), b: to("a") } }])
        expect(() => read(schema)).toThrow("leads back to itself before any value begins");
      const unions = { ...object({ x: to("a") }), $defs: { a: { anyOf: [{ type: "null" }, to("a")] } } };
      expect(() => read(unions)).toThrow("leads back to itself before any value begins");
    });

    it("is refused for references that expand without end", () => {
      const twice = (name: string) => ({ type: "array", prefixItems: list(4, () => ({ $ref: `#/$defs/${name}` })) });
      const $defs = many(12, (index) => (index === 0 ? text(1) : twice(`p${index - 1}`)));
      expect(() => read({ $ref: "#/$defs/p11", $defs })).toThrow("expand to too many parts");
    });
  });
});

describe("isFirstGrammar()", () => {
  it.each([
    [{ $ref: "#/$defs/A" }, true],
    [{ items: { $ref: "#" } }, true],
    [{ items: { $ref: "#/properties/a" } }, false],
    [{ $ref: "#/$defs/a%20b" }, false],
    [{ pattern: "a" }, false],
    [{ type: "string", format: "date" }, true],
    [{ type: "string", format: "uuid" }, false],
  ])("knows what agents of all versions keep: %j", (schema, isFirst) => {
    expect(isFirstGrammar(schema)).toBe(isFirst);
  });
});
