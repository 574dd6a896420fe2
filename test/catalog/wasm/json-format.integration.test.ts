import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Utility } from "./utility.ts";

const utility = new Utility("json-format");
const format = (json: string, options: object = {}): string =>
  utility.output<{ json: string }>({ json, ...options }).json;

describe("json-format", () => {
  it("formats any JSON like JSON.stringify, indented or on one line", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 8 }), (value, indent) => {
        // The expected text is parsed from JSON, because a literal would not preserve -0 and the order of numeric
        // names.
        const parsed: unknown = JSON.parse(JSON.stringify(value));
        expect(format(JSON.stringify(parsed), { indent })).toBe(JSON.stringify(parsed, null, indent));
      }),
    );
  });
  it("reads JSON with any indentation, escapes and spaces", () => {
    const escapeAll = (json: string): string =>
      json.replaceAll(/[^\x20-\x7e\n\t]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
    fc.assert(
      fc.property(
        fc.jsonValue({
          stringUnit: fc.constantFrom("a", '"', "\\", "\u0000", "\u001f", "\u007f", "é", "猫", "😀", "\uffff"),
        }),
        (value) => {
          const json = escapeAll(JSON.stringify(value, null, "\t")).replaceAll("\n", "\r\n ");
          expect(JSON.parse(format(json))).toEqual(JSON.parse(json));
        },
      ),
    );
  });
  it("sorts names by code point at every level", () => {
    expect(
      format('{"b":{"é":1,"z":2,"😀":3,"\\uffee":4},"a":[{"d":1,"c":2}],"B":0}', { indent: 0, sort_keys: true }),
    ).toBe('{"B":0,"a":[{"c":2,"d":1}],"b":{"z":2,"é":1,"\uffee":4,"😀":3}}');
  });
  it("preserves the digits of numbers", () => {
    const numbers = "[1.0,1E400,-0,12345678901234567890.00000000000000000001,1e-0007]";
    expect(format(numbers, { indent: 0 })).toBe(numbers);
  });
  it("keeps the last value of a repeated name, at the position of the first", () => {
    expect(format('{"a":1,"b":2,"\\u0061":3}', { indent: 0 })).toBe('{"a":3,"b":2}');
    const many = Array.from({ length: 300 }, (_, index) => `"n${index % 100}":${index}`);
    const last = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`n${index % 100}`, index]));
    expect(format(`{${many.join()}}`, { indent: 0 })).toBe(JSON.stringify(last));
  });
  it.each([
    ["", "it ends too early (line 1, column 1)"],
    ['{\n  "a": 1,\n  é\n}', "a name in double quotes is expected (line 3, column 3)"],
    ['["é",]', "a value is expected (line 1, column 6)"],
    ["[1 2]", "a comma or ] is expected (line 1, column 4)"],
    ['{"a":1', "it ends too early (line 1, column 7)"],
    ['{"a" 1}', "a colon is expected (line 1, column 6)"],
    ["01", "something follows after the value (line 1, column 2)"],
    ["[1.]", "a digit is expected (line 1, column 4)"],
    ["-", "it ends too early (line 1, column 2)"],
    ["[tru]", "a value is expected (line 1, column 2)"],
    ['["\t"]', "a control character in a text must be escaped (line 1, column 3)"],
    ['["\\x"]', "there is no such escape (line 1, column 4)"],
    ['["\\u12g4"]', "four hexadecimal digits are expected (line 1, column 7)"],
    ['"\\ud800"', "unpaired surrogate (line 1, column 2)"],
    ['"\\ud800\\u0041"', "unpaired surrogate (line 1, column 2)"],
    ['"\\udc00"', "unpaired surrogate (line 1, column 2)"],
    ['"abc', "it ends too early (line 1, column 5)"],
    ['"abc\\', "it ends too early (line 1, column 6)"],
  ])("rejects %j with the reason: %s", (json, reason) => {
    expect(utility.error({ json })).toBe(`The text is not JSON: ${reason}`);
  });
  it("accepts 256 levels and rejects 257", () => {
    const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
    expect(format(nested(256), { indent: 0 })).toBe(nested(256));
    expect(utility.error({ json: nested(257) })).toContain("nested deeper than 256 (line 1, column 257)");
  });
  it("rejects an output above 4 MB", () => {
    const json = `${"[".repeat(255)}${"[],".repeat(40_000)}1${"]".repeat(255)}`;
    expect(utility.error({ json, indent: 8 })).toContain("larger than 4 MB");
  });
  it("rejects the same texts as JSON.parse", () => {
    const piece = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ":",
      ",",
      '"a"',
      '"',
      "\\",
      "0",
      "1",
      "-",
      ".",
      "e",
      "+",
      "true",
      "nul",
      " ",
      "\n",
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join("")),
        (json) => {
          let isValid = true;
          try {
            JSON.parse(json);
          } catch {
            isValid = false;
          }
          const { lines } = utility.raw(JSON.stringify({ json }));
          expect([json, lines.map((line) => line.type)]).toEqual([json, [isValid ? "done" : "error"]]);
        },
      ),
      { numRuns: 500 },
    );
  });
});
