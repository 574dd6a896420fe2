import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Utility } from "./utility.ts";

const toJson = new Utility("csv-to-json");
const toCsv = new Utility("json-to-csv");
interface Rows {
  readonly rows: unknown[];
  readonly count: number;
}
const read = (csv: string, options: object = {}): unknown[] => toJson.output<Rows>({ csv, ...options }).rows;
const write = (rows: unknown[], options: object = {}): string =>
  toCsv.output<{ csv: string }>({ rows, ...options }).csv;

const delimiter = fc.constantFrom(",", ";", "\t", "|");
const field = fc.oneof(
  fc.string({ unit: fc.constantFrom('"', ",", ";", "\n", "\r", "\t", "|", " ", "a", "é", "😀", "\ufeff") }),
  fc.string(),
);

describe("csv-to-json", () => {
  it("reads quotes, doubled quotes, delimiters and line ends like RFC 4180", () => {
    expect(read('a,b,c\r\n"1,5","say ""hi""","two\r\nlines"\r\n')).toEqual([
      { a: "1,5", b: 'say "hi"', c: "two\r\nlines" },
    ]);
    expect(read('"a","b"\n,""\n')).toEqual([{ a: "", b: "" }]);
  });
  it("accepts all kinds of line ends, a missing last one, a byte order mark and empty lines", () => {
    expect(read("\ufeffa,b\r1,2\n\n3,4\r\n\r\n5,6")).toEqual([
      { a: "1", b: "2" },
      { a: "3", b: "4" },
      { a: "5", b: "6" },
    ]);
  });
  it("returns lists without a header line", () => {
    expect(toJson.output({ csv: "1;2\n3\n", delimiter: ";", header: false })).toEqual({
      rows: [["1", "2"], ["3"]],
      count: 2,
    });
  });
  it("returns null for missing fields of a short line", () => {
    expect(read("a,b\n1\n")).toEqual([{ a: "1", b: null }]);
  });
  it.each([
    ["a,b\n\n1,2,3\n", "Line 3: 3 fields, but the heading names 2"],
    ['a\n"x\ny\n', "Line 2: a quote is opened and never closed"],
    ['a\n"x\ny"z\n', "Line 3: after a closing quote a delimiter or the end of the line is expected"],
    ["a,b,a\n", 'Two columns are named "a"'],
    ["\n\n", "The table is empty: a heading line is expected"],
  ])("refuses %j: %s", (csv, message) => {
    expect(toJson.error({ csv })).toBe(message);
  });
  it("rejects an invalid delimiter", () => {
    expect(toJson.error({ csv: "a", delimiter: '"' })).toContain("delimiter");
    expect(toJson.error({ csv: "a", delimiter: "é" })).toContain("delimiter");
  });
});

describe("json-to-csv", () => {
  it("orders columns by first occurrence, and leaves missing fields empty", () => {
    expect(write([{ a: 1 }, { b: true, a: null }])).toBe("a,b\r\n1,\r\n,true\r\n");
  });
  it("writes only the requested columns", () => {
    expect(write([{ a: 1, b: 2, c: 3 }], { columns: ["c", "a"], header: false })).toBe("3,1\r\n");
  });
  it("writes lists and objects as JSON, and preserves the digits of numbers", () => {
    const { lines } = toCsv.raw('{"rows":[{"a":[1.0,{"b":"c"}],"n":1.50}]}');
    expect(lines[0]?.output).toEqual({ csv: 'a,n\r\n"[1.0,{""b"":""c""}]",1.50\r\n', count: 1 });
  });
  it("rejects rows that are not objects, with their number", () => {
    expect(toCsv.error({ rows: [{}, []] })).toBe("Row 2 must be an object");
  });
});

describe("csv-to-json with the output of json-to-csv", () => {
  it("returns the original rows for any content", () => {
    const rows = fc
      .uniqueArray(field, { minLength: 1, maxLength: 5 })
      .chain((names) =>
        fc.array(
          fc
            .tuple(...names.map(() => field))
            .map((values) => Object.fromEntries(names.map((name, at) => [name, values[at]]))),
        ),
      );
    fc.assert(
      fc.property(rows, delimiter, (rows, delimiter) => {
        fc.pre(rows.length > 0);
        expect(read(write(rows, { delimiter }), { delimiter })).toEqual(rows);
      }),
    );
  });
});
