import { describe, expect, it } from "vitest";
import { fitsGrammar } from "../../../shared/grammar/grammar-fit.ts";

const PERSON = { type: "object", properties: { name: { type: "string", maxLength: 3 }, age: { type: "integer" } } };
const TREE = {
  $defs: { Tree: { anyOf: [{ type: "null" }, { type: "array", items: { $ref: "#/$defs/Tree" } }] } },
  $ref: "#/$defs/Tree",
};
const PAIR = { type: "array", prefixItems: [{ type: "string" }], items: { type: "number" }, maxItems: 3 };

describe("fitsGrammar()", () => {
  it.each<[unknown, object]>([
    [{ name: "Ada", age: 36 }, PERSON],
    [{ age: 36, name: "🏝🏝🏝" }, PERSON],
    [[[], [null]], TREE],
    [["a", 1, 2.5], PAIR],
    ["b", { enum: ["a", "b"] }],
    [null, { type: ["string", "null"] }],
    [{ any: [1, "x"] }, {}],
    [
      { a: 1, b: 2 },
      { type: "object", additionalProperties: { type: "number" } },
    ],
  ])("accepts %j for %j", (value, schema) => expect(fitsGrammar(value, { ...schema })).toBe(true));

  it.each<[unknown, object]>([
    [{ name: "Ada" }, PERSON],
    [{ name: "Ada", age: 36, more: 1 }, PERSON],
    [{ name: "Ada", age: 36.5 }, PERSON],
    [{ name: "Augusta", age: 36 }, PERSON],
    [[], PERSON],
    [[[5]], TREE],
    [[], PAIR],
    [["a", "b"], PAIR],
    [["a", 1, 2, 3], PAIR],
    ["c", { enum: ["a", "b"] }],
    ["1", { const: 1 }],
    [5, { type: ["string", "null"] }],
    [{ a: "1" }, { type: "object", additionalProperties: { type: "number" } }],
  ])("rejects %j for %j", (value, schema) => expect(fitsGrammar(value, { ...schema })).toBe(false));

  it("accepts a value that takes too many steps", () => {
    const numbers = { type: "array", items: { type: "number" } };
    const withText = (length: number): unknown[] => [...Array.from({ length }, () => 1), "x"];
    expect(fitsGrammar(withText(1_000), numbers)).toBe(false);
    expect(fitsGrammar(withText(100_000), numbers)).toBe(true);
  });
});
