import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { print } from "../../../../bin/main/terminal/print.ts";

let lines: string[];
beforeEach(() => {
  lines = [];
  vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line));
});
afterEach(() => vi.restoreAllMocks());

const HOSTILE = "\u001B]0;title\u0007 \u009B2J \u202E \u{E0001}";

it("print() escapes control characters in text", () => {
  print({}, null, `first\n${HOSTILE}`);
  expect(lines).toEqual([`first\n${String.raw`\u{1b}]0;title\u{7} \u{9b}2J \u{202e} \u{e0001}`}`]);
});

it("print() escapes control characters in JSON without changing its value", () => {
  print({ json: true }, { name: HOSTILE }, "");
  expect(JSON.parse(lines.join(""))).toEqual({ name: HOSTILE });
  expect(lines.join("")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});
