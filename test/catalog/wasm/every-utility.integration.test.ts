import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { linksOf, runWasi } from "../../support/models/wasi-host.ts";
import { pinnedCargo, UTILITY_SLUGS, Utility } from "./utility.ts";

const MAX_INPUT_BYTES = 256 * 1024;

/** Inputs of 256 KB with extreme numbers, depths or kinds of JSON values. */
const fill = (unit: string): string => unit.repeat(Math.floor((MAX_INPUT_BYTES - 200) / Buffer.byteLength(unit)));
const HUGE: [string, string][] = [
  ["ones", `[${fill("1,")}1]`],
  ["empty objects", `[${fill("{},")}1]`],
  ["small objects", `[${fill('{"a":1},')}1]`],
  ["lists of lists", `[${fill("[1],")}1]`],
  ["escaped texts", `[${fill('"\\n",')}1]`],
  ["one text", `"${fill("a")}"`],
  ["one text of wide characters", `"${fill("猫")}"`],
  ["one text of escapes", `"${fill("\\u0001")}"`],
  ["lines", `"${fill("\\n")}"`],
  ["words", `"${fill("a ")}"`],
  ["delimiters", `"${fill(",")}"`],
  ["quotes", `"${fill('\\"')}"`],
  ["names", `{${Array.from({ length: 20_000 }, (_, at) => `"n${at}":1`).join()}}`],
];

it("there are at least ten utilities", () => {
  expect(UTILITY_SLUGS.length).toBeGreaterThanOrEqual(10);
});

describe.each(UTILITY_SLUGS)("%s", (slug) => {
  const utility = new Utility(slug);
  const { example, memoryMb, outputSchema } = pinnedCargo(slug);
  const line = JSON.stringify(example);
  /** Returns the example once per field, with this field replaced by `value`. */
  const withValue = (value: string): string[] =>
    Object.keys(example).map((name) => {
      const fields = Object.entries(example).map(
        ([key, old]) => `${JSON.stringify(key)}:${key === name ? value : JSON.stringify(old)}`,
      );
      return `{${fields.join()}}\n`;
    });

  it("imports only read, write and exit", () => {
    const { imports, exports } = linksOf(utility.module);
    expect(imports.sort()).toEqual(
      ["fd_read", "fd_write", "proc_exit"].map((name) => `wasi_snapshot_preview1.${name}`),
    );
    expect(exports.sort()).toEqual(["_start", "memory"]);
  });
  it("processes its example with reads and writes of any size", () => {
    const { lines, exitCode, stdout } = utility.raw(`${line}\n`);
    expect([exitCode, lines.map(({ type }) => type)]).toEqual([0, ["done"]]);
    for (const moved of [1, 7])
      expect(runWasi(utility.module, Buffer.from(line), moved)).toMatchObject({ stdout, exitCode: 0 });
    expect(runWasi(utility.module, Buffer.from(`${line}\nwhat follows the first line`)).stdout).toBe(stdout);
  });
  it("returns output that matches the schema of its Cargo", () => {
    const check = new Ajv2020().compile(outputSchema);
    check(utility.output(example));
    expect(check.errors).toBeNull();
  });
  it.each([
    ["", "The input is empty: it must be one line of JSON"],
    ["\n", "The input is empty: it must be one line of JSON"],
    ["[]", "The input must be a JSON object"],
    ["nonsense", "The input is not JSON: a value is expected (line 1, column 1)"],
    ["{}", " is missing"],
    ['{"\\ud800":1}', "unpaired surrogate"],
    ["[".repeat(100_000), "nested deeper than 256"],
    ['{"a":'.repeat(1_000), "nested deeper than 256"],
  ])("refuses the input %j", (input, message) => {
    const { lines, exitCode } = utility.raw(input);
    expect([exitCode, lines]).toEqual([1, [{ type: "error", message: expect.stringContaining(message) }]]);
  });
  it.each([
    [[0xff], 1],
    [[0x22, 0xc0, 0x80], 2],
    [[0xed, 0xa0, 0x80], 1],
    [[0xe2, 0x82], 1],
    [[0xf4, 0x90, 0x80, 0x80], 1],
    [[0xf0, 0x80, 0x80, 0x80], 1],
  ])("refuses bytes that are not UTF-8: %j", (bytes, at) => {
    const message = `The input is not UTF-8 (byte ${at})`;
    expect(utility.raw(Buffer.from(bytes))).toMatchObject({ exitCode: 1, lines: [{ type: "error", message }] });
  });
  it("rejects truncated input", () => {
    for (let end = 1; end < line.length; end++) {
      const { exitCode, lines } = utility.raw(line.slice(0, end));
      expect([end, exitCode, lines.map(({ type }) => type)]).toEqual([end, 1, ["error"]]);
    }
  });
  it("rejects a line above the input limit", () => {
    const message = "The input is longer than 512 KB";
    expect(utility.raw("x".repeat(2_000_000))).toMatchObject({ exitCode: 1, lines: [{ type: "error", message }] });
  });
  it("ends with an output line for wrong values, huge numbers and unusual texts", () => {
    for (const value of [
      "null",
      "true",
      "-1e999",
      "9".repeat(400),
      '""',
      "[]",
      "{}",
      "[[]]",
      '["\\u0000"]',
      '"\\ud83d\\ude00"',
      "[{}]",
    ]) {
      for (const input of withValue(value)) {
        const { exitCode, lines } = utility.raw(input);
        expect([input, lines.length, lines[0]?.type]).toEqual([input, 1, exitCode === 0 ? "done" : "error"]);
      }
    }
  });
  it.each(HUGE)("processes 256 KB of %s within its memory", (_what, value) => {
    for (const input of withValue(value)) {
      const { exitCode, lines, memoryBytes } = utility.raw(input);
      expect(lines.at(-1)?.type).toBe(exitCode === 0 ? "done" : "error");
      expect(memoryBytes).toBeLessThanOrEqual(memoryMb * 1_048_576);
    }
  });
});
