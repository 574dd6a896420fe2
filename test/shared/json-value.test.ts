import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../shared/canonical-json.ts";
import { isJsonValue } from "../../shared/json-value.ts";

/** The maximum number of elements of a frame, which exceeds the number of arguments that a call may have. */
const MANY = 1_000_000;
const nested = (levels: number): unknown => (levels === 0 ? 0 : [nested(levels - 1)]);

describe("isJsonValue()", () => {
  it("accepts values that JSON can represent", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(isJsonValue(value)).toBe(true);
      }),
    );
  });

  it("accepts long arrays and objects with many members", () => {
    const members = Object.fromEntries(Array.from({ length: MANY / 4 }, (_, index) => [`k${index}`, index]));
    expect(isJsonValue(Array.from({ length: MANY }, () => 0))).toBe(true);
    expect(isJsonValue({ members })).toBe(true);
  });

  it.each([
    ["a big integer", 1n],
    ["NaN", Number.NaN],
    ["an infinity", Number.POSITIVE_INFINITY],
    ["undefined in an array", [undefined]],
    ["a hole in an array", Array.from({ length: 2 }).fill(0, 0, 1)],
    ["a date", new Date()],
    ["bytes", new Uint8Array(1)],
    ["a map", new Map()],
    ["a function", () => 0],
    ["101 levels", nested(101)],
  ])("rejects %s", (_title, value) => {
    expect(isJsonValue({ value })).toBe(false);
  });

  it("accepts 100 levels, and rejects cyclic values", () => {
    expect(isJsonValue(nested(100))).toBe(true);
    const self: unknown[] = [];
    self.push(self);
    expect(isJsonValue(self)).toBe(false);
  });
});

describe("canonicalJson()", () => {
  it("writes long arrays", () => {
    expect(canonicalJson(Array.from({ length: MANY / 4 }, () => 0))).toHaveLength((MANY / 4) * 2 + 1);
  });
});
