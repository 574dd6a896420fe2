import { describe, expect, it } from "vitest";
import { alignRows, fixed, flexible, tableOf } from "../../../shared/cli/text-table.ts";

const COLUMNS = [fixed("ID"), flexible("NAME"), fixed("NOTE"), flexible("OWNER")];
const ROWS = [
  ["a1", "a name that is rather long", "", "ann@example.com"],
  ["b2", "garage", "", "bob@example.com"],
];

describe("tableOf()", () => {
  it("writes a heading, and omits columns without text", () => {
    expect(tableOf(COLUMNS, ROWS, { total: 7 }).split("\n")).toEqual([
      "ID  NAME                        OWNER",
      "a1  a name that is rather long  ann@example.com",
      "b2  garage                      bob@example.com",
      "… 7 in all",
    ]);
  });

  it("cuts only flexible columns to the width of a terminal, the widest first", () => {
    expect(tableOf(COLUMNS, ROWS, { width: 32 }).split("\n")).toEqual([
      "ID  NAME           OWNER",
      "a1  a name that …  ann@example.…",
      "b2  garage         bob@example.…",
    ]);
    const narrow = tableOf(COLUMNS, ROWS, { width: 10 }).split("\n");
    expect(narrow[1]).toBe("a1  a name …  ann@exa…");
  });

  it("aligns and cuts wide characters by their width in a terminal, without splitting a character", () => {
    const rows = [
      ["日本語の名前", "ann"],
      ["e\u0301te\u0301 🏝️ 🏝️ 🏝️", "bob"],
    ];
    const columns = [flexible("NAME"), fixed("OWNER")];
    expect(tableOf(columns, rows).split("\n")).toEqual([
      "NAME          OWNER",
      "日本語の名前  ann",
      "e\u0301te\u0301 🏝️ 🏝️ 🏝️  bob",
    ]);
    expect(tableOf(columns, rows, { width: 15 }).split("\n")).toEqual([
      "NAME      OWNER",
      "日本語…   ann",
      "e\u0301te\u0301 🏝️ …  bob",
    ]);
  });

  it("escapes terminal control characters, on one line", () => {
    const hostile = tableOf([fixed("NAME")], [["\u001B[2Jgone\r\nforged\u202E\u009B1A"]]);
    expect(hostile).toBe(`NAME\n${String.raw`\u{1b}[2Jgone\u{d}\u{a}forged\u{202e}\u{9b}1A`}`);
  });
});

it("alignRows() writes no heading", () => {
  expect(
    alignRows([
      ["jobs", "1 running"],
      ["accounts", "3"],
    ]),
  ).toBe("jobs      1 running\naccounts  3");
});
