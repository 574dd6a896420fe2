import { describe, expect, it } from "vitest";
import { isFirstGrammar } from "../../../shared/grammar/grammar-keywords.ts";
import { grammarSchemaOf } from "../../../shared/grammar/grammar-schema.ts";

const read = (schema: Record<string, unknown>): unknown => grammarSchemaOf(schema);

describe("grammarSchemaOf()", () => {
  it.each([
    ["drops annotations", { $schema: "x", title: "T", type: "string", examples: ["a"] }, { type: "string" }],
    [
      "turns anyOf into oneOf",
      { anyOf: [{ type: "null" }, { type: "integer" }] },
      { oneOf: [{ type: "null" }, { type: "integer" }] },
    ],
    [
      "turns a list of types into oneOf, each with its own keywords",
      { type: ["string", "null"], maxLength: 3 },
      { oneOf: [{ type: "string", maxLength: 3 }, { type: "null" }] },
    ],
    [
      "limits an object to its properties",
      { type: "object", properties: { a: { type: "boolean" } }, required: ["a"], additionalProperties: true },
      { type: "object", properties: { a: { type: "boolean" } } },
    ],
    [
      "keeps the schema of a map's values",
      { type: "object", additionalProperties: { type: "number" }, maxProperties: 3 },
      { type: "object", additionalProperties: { type: "number" }, maxProperties: 3 },
    ],
    ["recognizes an object by its properties", { properties: {} }, { type: "object", additionalProperties: true }],
    [
      "turns definitions into $defs",
      { definitions: { A: { type: "null" } }, $ref: "#/definitions/A" },
      { $ref: "#/$defs/A", $defs: { A: { type: "null" } } },
    ],
    ["replaces allOf of one schema by that schema", { allOf: [{ type: "null" }] }, { type: "null" }],
    ["keeps a known format", { type: "string", format: "date" }, { type: "string", format: "date" }],
    ["keeps a range", { type: "integer", minimum: 1, title: "I" }, { type: "integer", minimum: 1 }],
    ["keeps a pattern", { type: "string", pattern: "^a$" }, { type: "string", pattern: "^a$" }],
    ["leaves a large upper bound to later validation", { type: "string", maxLength: 5_000 }, { type: "string" }],
    ["accepts enum values of any type", { enum: [{ a: [1] }, 2] }, { enum: [{ a: [1] }, 2] }],
    [
      "adds a required property that is not listed",
      { type: "object", required: ["a"], additionalProperties: { type: "null" } },
      { type: "object", properties: { a: { type: "null" } } },
    ],
    [
      "drops a property that allows no value",
      { properties: { a: false, b: { type: "null" } } },
      { type: "object", properties: { b: { type: "null" } } },
    ],
    [
      "merges the schemas of allOf",
      {
        allOf: [
          { properties: { a: { type: "integer", minimum: 1 } }, required: ["a"] },
          { properties: { a: { minimum: 3 }, b: { type: "null" } } },
        ],
      },
      { type: "object", properties: { a: { type: "integer", minimum: 3 }, b: { type: "null" } } },
    ],
    [
      "applies keywords next to alternatives to each",
      { type: "object", properties: { a: { type: "null" } }, anyOf: [{ properties: { b: { type: "null" } } }] },
      { oneOf: [{ type: "object", properties: { a: { type: "null" }, b: { type: "null" } } }] },
    ],
    [
      "applies keywords next to a reference",
      { $defs: { A: { type: "string", maxLength: 9 } }, properties: { a: { $ref: "#/$defs/A", maxLength: 3 } } },
      {
        type: "object",
        properties: { a: { type: "string", maxLength: 3 } },
        optional: ["a"],
        $defs: { A: { type: "string", maxLength: 9 } },
      },
    ],
    [
      "lets recursion end at an optional property",
      { type: "object", properties: { a: { $ref: "#" } } },
      {
        type: "object",
        properties: { a: { $ref: "#/$defs/#" } },
        optional: ["a"],
        $defs: { "#": { type: "object", properties: { a: { $ref: "#/$defs/#" } }, optional: ["a"] } },
      },
    ],
    [
      "follows a reference to another path of the schema",
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
      "lets recursion through a path end at an optional property",
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
      "decodes names in references",
      { $defs: { "a/b c": { type: "null" } }, items: { $ref: "#/$defs/a~1b%20c" } },
      { type: "array", items: { $ref: "#/$defs/a/b c" }, $defs: { "a/b c": { type: "null" } } },
    ],
    [
      "ends a tuple if no more items are allowed",
      { type: "array", prefixItems: [{ type: "null" }], items: false },
      { type: "array", prefixItems: [{ type: "null" }], maxItems: 1 },
    ],
  ])("%s", (_fact, schema, expected) => {
    expect(read(schema)).toEqual(expected);
  });

  it("allows any value for an empty schema", () => {
    expect(read({ type: "array", items: {} })).toMatchObject({ items: { oneOf: expect.any(Array) } });
  });

  it.each([
    ["an unknown keyword", { if: {} }, 'schema: keyword "if" is not supported'],
    [
      "its path",
      { properties: { a: { items: { not: {} } } } },
      'schema.properties.a.items: keyword "not" is not supported',
    ],
    ["an unknown type", { type: "matrix" }, 'schema: type "matrix" is not known'],
    ["a foreign reference", { $ref: "https://example.com/x" }, "is not of the form"],
    [
      "a reference to a missing path",
      { items: { $ref: "#/properties/a" } },
      'reference "#/properties/a" does not exist',
    ],
    [
      "a reference to a value that is not a schema",
      { items: { $ref: "#/items/$ref" } },
      "schema.items.$ref: is not a schema",
    ],
    [
      "a reference to a missing definition",
      { items: { $ref: "#/$defs/A" } },
      'schema.items: there is no definition "A"',
    ],
    [
      "schemas that exclude each other",
      { allOf: [{ type: "null" }, { type: "string" }] },
      "no value is both null and string",
    ],
    ["two patterns in allOf", { allOf: [{ pattern: "a" }, { pattern: "b" }] }, 'another "pattern"'],
    ["a schema that is merged with itself", { $ref: "#", minLength: 1 }, "refers to itself, in allOf"],
    ["a required property that is excluded", { required: ["a"], additionalProperties: false }, '"a" is required'],
    ["a lower bound above the limit", { type: "string", minLength: 2_000 }, "minLength is not an integer in 0..1999"],
    ["contradictory bounds", { type: "number", minimum: 2, maximum: 1 }, "no number is within the bounds"],
    ["an invalid pattern", { type: "string", pattern: "(" }, 'pattern "(" is not a regular expression'],
    ["false", { properties: { a: false }, required: ["a"] }, "schema.properties.a: allows no value"],
  ])("rejects and names %s", (_what, schema, message) => {
    expect(() => read(schema)).toThrow(message);
  });

  it("rejects a schema of more parts than can be compiled quickly", () => {
    const properties = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`p${index}`, { type: "null" }]));
    expect(() => read({ type: "object", properties })).toThrow("more than 1000 parts");
  });

  describe("the cost limit", () => {
    const text = (maxLength: number) => ({ type: "string", maxLength });
    const object = (properties: Record<string, unknown>) => ({ type: "object", properties });
    const many = (count: number, part: (index: number) => unknown) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, part(index)]));
    const list = (count: number, part: (index: number) => unknown) =>
      Array.from({ length: count }, (_, index) => part(index));

    it("rejects many bounded strings, with the limit", () => {
      expect(() => read(object(many(990, (index) => text(1_010 + index))))).toThrow(
        "response_format.json_schema.schema: its lengths and numbers of items and properties add up to 1489455; at most 20000",
      );
      expect(read(object(many(20, () => text(1_000))))).toMatchObject({ type: "object" });
    });

    it("counts bounds anywhere, but not properties named like one", () => {
      const deep = { type: "array", maxItems: 1_999, items: { anyOf: [text(1_999), { $ref: "#/$defs/a" }] } };
      const $defs = Object.fromEntries("abcdefghi".split("").map((name) => [name, text(1_999)]));
      expect(() => read({ ...deep, $defs })).toThrow("add up to 21989");
      expect(read(object({ maxLength: text(5) }))).toMatchObject({ type: "object" });
    });

    it.each([
      ["values", { enum: list(251, String) }],
      ["alternatives with the same beginning", { anyOf: list(251, () => text(50)) }],
      [
        "alternatives inside alternatives with the same beginning",
        { anyOf: list(20, (i) => object({ a: { anyOf: list(20, (j) => text(i + j)) } })) },
      ],
    ])("rejects more than 250 %s", (_what, schema) => {
      expect(() => read(schema)).toThrow("at most 250 are supported");
    });

    it("does not add up alternatives that their first property distinguishes", () => {
      const kinds = list(20, (i) => object({ kind: { const: `k${i}` }, a: { enum: list(20, (j) => `${i} ${j}`) } }));
      expect(read({ anyOf: kinds })).toMatchObject({ oneOf: expect.any(Array) });
    });

    it("adds up alternatives with the same beginning, although others start otherwise", () => {
      const kinds = list(20, (i) => object({ kind: { const: `k${i}` }, a: { enum: list(20, (j) => `${i} ${j}`) } }));
      const anyKind = object({ kind: { type: "string" }, a: { enum: ["x"] } });
      expect(() => read({ anyOf: [...kinds, anyKind] })).toThrow("up to 401 alternatives");
      expect(() => read({ anyOf: [anyKind, ...kinds] })).toThrow("up to 401 alternatives");
    });

    it("rejects references that each bring as many alternatives, without expanding them first", () => {
      const $defs = { A: { enum: list(20_000, String) } };
      const anyOf = list(900, () => ({ $ref: "#/$defs/A" }));
      expect(() => read({ $defs, anyOf })).toThrow("expand to too many parts");
    });

    it("rejects references that each merge long lists of values, without comparing all of them", () => {
      const $defs = { A: { enum: list(200, String) } };
      const one = { enum: list(200, (i) => String(199 - i)), allOf: [{ $ref: "#/$defs/A" }] };
      expect(read({ ...object({ a: one }), $defs })).toMatchObject({ type: "object" });
      expect(() => read({ ...object(many(90, () => one)), $defs })).toThrow("more than 1000 parts");
    });

    it("counts a part that allows any value as several parts", () => {
      expect(() => read(object(many(500, () => true)))).toThrow("more than 1000 parts");
    });

    const arrayOf = (items: unknown) => ({ type: "array", items, minItems: 1 });
    it("rejects a recursive reference from alternatives with the same beginning, because each level would double the open ones", () => {
      const $ref = "#/$defs/E";
      const $defs = { E: { anyOf: [arrayOf({ $ref }), { ...arrayOf({ $ref }), maxItems: 9 }] } };
      expect(() => read({ $ref, $defs })).toThrow("#/$defs/E refers back to itself from alternatives that begin alike");
    });

    it("cannot be bypassed by definitions inside a part, which references do not reach", () => {
      const $ref = "#/$defs/E";
      const $defs = { E: { anyOf: [arrayOf({ $ref }), { ...arrayOf({ $ref }), maxItems: 9 }] } };
      expect(() => read(object({ a: { $ref, $defs } }))).toThrow('schema.properties.a: there is no definition "E"');
      expect(read({ ...object({ a: { $ref, $defs } }), $defs: { E: { type: "null" } } })).toEqual({
        ...object({ a: { $ref } }),
        optional: ["a"],
        $defs: { E: { type: "null" } },
      });
    });

    it("accepts other recursive references, such as trees, linked lists and tagged expressions", () => {
      const $ref = "#/$defs/E";
      const tree = object({ name: { type: "string" }, children: { type: "array", items: { $ref } } });
      const linked = object({ next: { anyOf: [{ type: "null" }, { $ref }] } });
      const tagged = {
        anyOf: ["add", "mul"].map((op) => object({ op: { const: op }, left: { $ref }, right: { $ref } })),
      };
      for (const E of [tree, linked, tagged]) expect(read({ $ref, $defs: { E } })).toMatchObject({ $ref });
    });

    it("rejects references that lead back before any value starts", () => {
      const to = (name: string) => ({ $ref: `#/$defs/${name}` });
      for (const schema of [{ $ref: "#" }, { ...to("a"), $defs: { a: to("b"), b: to("a") } }])
        expect(() => read(schema)).toThrow("leads back to itself before any value begins");
      const unions = { ...object({ x: to("a") }), $defs: { a: { anyOf: [{ type: "null" }, to("a")] } } };
      expect(() => read(unions)).toThrow("leads back to itself before any value begins");
    });

    it("rejects references that expand endlessly", () => {
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
  ])("recognizes what agents of all versions enforce: %j", (schema, isFirst) => {
    expect(isFirstGrammar(schema)).toBe(isFirst);
  });
});
