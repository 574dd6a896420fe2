import { expect } from "vitest";
import type { ProgramResult } from "./program.ts";

/** Expects a refusal: exit code 1 (2 for a wrong call), no standard output, and a one-line error without a stack. */
export function expectRefusal({ code, stdout, stderr }: ProgramResult, sentence: string | RegExp, wanted = 1): void {
  const lines = stderr.trimEnd().split("\n").length;
  expect({ code, stdout, lines }).toEqual({ code: wanted, stdout: "", lines: 1 });
  expect(stderr).not.toContain("    at ");
  if (typeof sentence === "string") expect(stderr.trimEnd()).toBe(sentence);
  else expect(stderr.trimEnd()).toMatch(sentence);
}
