import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Utility } from "./utility.ts";

const utility = new Utility("json-query");
interface Found {
  readonly count: number;
  readonly values: unknown[];
  readonly paths: string[];
}
const find = (data: unknown, query: string): Found => utility.output<Found>({ data, query });

const letters = ["a", "b", "c", "d", "e", "f", "g"];
const nested = { o: { j: 1, k: 2 }, a: [5, 3, [{ j: 4 }, { k: 6 }]] };

describe("json-query", () => {
  // Tables of RFC 9535, sections 2.3 and 2.5.
  it.each<[unknown, string, unknown[]]>([
    [{ k: "v" }, "$", [{ k: "v" }]],
    [{ o: { "j j": { "k.k": 3 } }, "'": { "@": 2 } }, "$.o['j j']", [{ "k.k": 3 }]],
    [{ o: { "j j": { "k.k": 3 } }, "'": { "@": 2 } }, `$.o["j j"]["k.k"]`, [3]],
    [{ o: { "j j": { "k.k": 3 } }, "'": { "@": 2 } }, `$["'"]["@"]`, [2]],
    [{ o: { "j j": { "k.k": 3 } }, "'": { "@": 2 } }, `$['\\'']['@']`, [2]],
    [{ o: { j: 1, k: 2 }, a: [5, 3] }, "$[*]", [{ j: 1, k: 2 }, [5, 3]]],
    [{ o: { j: 1, k: 2 }, a: [5, 3] }, "$.o[*]", [1, 2]],
    [{ o: { j: 1, k: 2 }, a: [5, 3] }, "$.o[*, *]", [1, 2, 1, 2]],
    [{ o: { j: 1, k: 2 }, a: [5, 3] }, "$.a[*]", [5, 3]],
    [["a", "b"], "$[1]", ["b"]],
    [["a", "b"], "$[-2]", ["a"]],
    [["a", "b"], "$[-3]", []],
    [["a", "b"], "$[2]", []],
    [letters, "$[1:3]", ["b", "c"]],
    [letters, "$[5:]", ["f", "g"]],
    [letters, "$[1:5:2]", ["b", "d"]],
    [letters, "$[5:1:-2]", ["f", "d"]],
    [letters, "$[::-1]", letters.toReversed()],
    [letters, "$[1:5:0]", []],
    [letters, "$[0, 3]", ["a", "d"]],
    [letters, "$[0:2, 5]", ["a", "b", "f"]],
    [letters, "$[0, 0]", ["a", "a"]],
    [nested, "$..j", [1, 4]],
    [nested, "$..[0]", [5, { j: 4 }]],
    [
      nested,
      "$..*",
      [{ j: 1, k: 2 }, [5, 3, [{ j: 4 }, { k: 6 }]], 1, 2, 5, 3, [{ j: 4 }, { k: 6 }], { j: 4 }, { k: 6 }, 4, 6],
    ],
    [nested, "$..o", [{ j: 1, k: 2 }]],
    [nested, "$.o..[*, *]", [1, 2, 1, 2]],
    [nested, "$.a..[0, 1]", [5, 3, { j: 4 }, { k: 6 }]],
    [{ "☺": { é_1: true } }, "$ .☺\n.é_1", [true]],
    [{ a: 1 }, "$[0]", []],
    [[1], "$.a", []],
  ])("applied to %j, the query %s selects %j", (data, query, values) => {
    expect(find(data, query)).toMatchObject({ values, count: values.length });
  });
  it("returns normalized paths that select the same values", () => {
    const data = { a: [{ "it's": 1 }], '\u000b"\n': [2], "\\": { é: 3 } };
    const { paths, values } = find(data, "$..*");
    expect(paths).toContain("$['a'][0]['it\\'s']");
    expect(paths).toContain(`$['\\u000b"\\n'][0]`);
    for (const [index, path] of paths.entries())
      expect(find(data, path)).toEqual({ count: 1, values: [values[index]], paths: [path] });
  });
  it("applies forward slices like Array.prototype.slice", () => {
    const bound = fc.option(fc.integer({ min: -9, max: 9 }), { nil: undefined });
    fc.assert(
      fc.property(bound, bound, (start, end) => {
        expect(find(letters, `$[${start ?? ""}:${end ?? ""}]`).values).toEqual(letters.slice(start, end));
      }),
    );
  });
  it.each([
    ["a", "a query begins with $ (column 1)"],
    ["$.", "a name or * is expected (column 3)"],
    ["$[?@.a]", "filters are not supported (column 3)"],
    ["$[1", "a comma or ] is expected (column 4)"],
    ["$[01]", "a name in quotes, a number, a slice or * is expected (column 3)"],
    ["$[-0]", "a name in quotes, a number, a slice or * is expected (column 3)"],
    ["$[9007199254740992]", "the number is too large (column 19)"],
    ["$.1a", "a name or * is expected (column 3)"],
    ["$é", "a dot or [ is expected (column 2)"],
    ["$ ", "a query ends without space (column 2)"],
  ])("refuses %j: %s", (query, reason) => {
    expect(utility.error({ data: [], query })).toBe(`The query is not a path: ${reason}`);
  });
  it("rejects an unclosed name", () => {
    expect(utility.error({ data: {}, query: "$['a" })).toContain("The name in the query");
  });
  it("rejects a query that visits too many values", () => {
    let data: unknown = 1;
    for (let level = 0; level < 200; level++) data = [data, 1];
    expect(utility.error({ data, query: "$..*..*..*" })).toContain("more than 200000 values");
  });
});
