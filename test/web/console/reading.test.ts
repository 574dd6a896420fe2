import { describe, expect, it } from "vitest";
import {
  formatBalance,
  formatCredits,
  formatDuration,
  formatMegabytes,
  formatShare,
} from "../../../web/src/components/numbers.ts";
import { readInputs } from "../../../web/src/pages/client/batches/read-inputs.ts";

describe("number formats", () => {
  it.each([
    [0, "0"],
    [0.000_004, "0.000004"],
    [241.987_6, "241.99"],
    [1_234_567, "1,234,567"],
    [-0.01, "-0.01"],
  ])("show %d credits as %s", (credits, text) => expect(formatCredits(credits)).toBe(text));

  it.each([
    [0, "0"],
    [0.998_5, "0.9985"],
    [1.15, "1.15"],
    [9_999.998, "9,999.99"],
    [9_999.999_999, "9,999.99"],
    [-1.001, "-1.01"],
  ])("round a balance of %d down to %s", (credits, text) => expect(formatBalance(credits)).toBe(text));

  it.each([
    [null, "–"],
    [0, "0 %"],
    [0.004, "0.4 %"],
    [0.42, "42 %"],
    [0.997, "99.7 %"],
    [1, "100 %"],
  ])("show a share of %d as %s", (share, text) => expect(formatShare(share)).toBe(text));

  it.each([
    [12, "12 ms"],
    [4_240, "4.2 s"],
    [185_000, "3 min 5 s"],
    [60_000, "1 min"],
    [7_440_000, "2 h 4 min"],
    [3_600_000, "1 h"],
    [200_000_000, "2 d 7 h"],
  ])("show %d ms as %s", (ms, text) => expect(formatDuration(ms)).toBe(text));

  it("choose the unit of a memory size", () => {
    expect([512, 2_048, 1_572_864].map(formatMegabytes)).toEqual(["512 MiB", "2 GiB", "1.5 TiB"]);
  });
});

describe("readInputs", () => {
  it("reads one prompt or JSON object per line", () => {
    expect(readInputs('Count.\n\n {"prompt":"<i>"}\n', true)).toEqual([{ prompt: "Count." }, { prompt: "<i>" }]);
  });

  it.each([
    ["", /at least one/],
    ['{"a":1}\nno', /Line 2/],
    ["[1]", /Line 1/],
    [Array.from({ length: 101 }, () => "{}").join("\n"), /at most 100/],
  ])("rejects invalid inputs and names the line: %j", (text, message) =>
    expect(() => readInputs(text, false)).toThrow(message),
  );
});
