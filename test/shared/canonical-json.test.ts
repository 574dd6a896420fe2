import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../shared/canonical-json.ts";
import type { JsonValue } from "../../shared/json-value.ts";

const json = fc.jsonValue({ maxDepth: 4, stringUnit: "binary" }) as fc.Arbitrary<JsonValue>;

/** Returns the same value with the keys of every object in the opposite order. */
function reversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(reversed);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).toReversed();
  return Object.fromEntries(members.map(([key, each]) => [key, reversed(each)]));
}

describe("canonicalJson()", () => {
  it("sorts keys at every depth, and writes numbers and texts as RFC 8785 specifies", () => {
    // Source: the examples of RFC 8785 §3.2.2 and §3.2.3, without one number that loses precision.
    const value = {
      numbers: [1e21 / 3, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\u002f",
      literals: [null, true, false],
    };
    expect(canonicalJson(value)).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333333333300000,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
    const keys = { "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\u{1f600}": 5, "\u0080": 6, "\u00f6": 7 };
    expect(Object.values(JSON.parse(canonicalJson([keys])) as object[])).toEqual([keys]);
    expect(canonicalJson(keys).match(/\d(?=[,}])/g)).toEqual(["2", "4", "6", "7", "1", "5", "3"]);
  });

  it("returns the JSON of the value, independent of the order of keys", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("returns different texts for different values", () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        const isSame = JSON.stringify(a) === JSON.stringify(b);
        if (!isSame) expect(canonicalJson(a) === canonicalJson(b)).toBe(isEqual(a, b));
      }),
    );
  });

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["an undefined member", { a: undefined }],
    ["NaN", { a: [Number.NaN] }],
    ["a big integer", 1n],
    ["a date", { a: new Date(0) }],
    ["bytes", { a: Buffer.from("a") }],
    ["a lone surrogate", { a: "\ud800" }],
    ["a lone surrogate in a key", { "\udc00": 1 }],
  ])("rejects %s", (_what, value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError);
  });

  it("rejects a value that is nested too deeply", () => {
    let deep: JsonValue = [];
    for (let level = 0; level < 200_000; level += 1) deep = [deep];
    expect(() => canonicalJson(deep)).toThrow(TypeError);
  });
});

/** Returns whether two values are equal except for the order of keys and the sign of zero. */
function isEqual(a: JsonValue, b: JsonValue): boolean {
  try {
    expect(JSON.parse(JSON.stringify(a))).toEqual(JSON.parse(JSON.stringify(b)));
    return true;
  } catch {
    return false;
  }
}
