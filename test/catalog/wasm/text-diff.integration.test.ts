import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Utility } from "./utility.ts";

const utility = new Utility("text-diff");
interface Diff {
  readonly diff: string;
  readonly added: number;
  readonly removed: number;
  readonly similarity: number;
}
const compare = (before: string, after: string, context = 3): Diff => utility.output<Diff>({ before, after, context });
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** Applies a unified diff like `patch`, and checks all context lines, removed lines and ranges. */
function patch(before: string, diff: string): string {
  const old = linesOf(before);
  const made: string[] = [];
  let at = 0;
  const [header, ...hunks] = diff.split(/^(?=@@ )/m);
  expect(header).toBe(diff === "" ? "" : "--- before\n+++ after\n");
  for (const hunk of hunks) {
    const [, start = "", oldCount = "1", newStart = "", newCount = "1"] =
      /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n/.exec(hunk) ?? [];
    const body = linesOf(hunk.slice(hunk.indexOf("\n") + 1).replaceAll("\n\\ No newline at end of file\n", "\u0000\n"));
    const first = Number(start) - (oldCount === "0" ? 0 : 1);
    made.push(...old.slice(at, first));
    expect(made.length).toBe(Number(newStart) - (newCount === "0" ? 0 : 1));
    at = first;
    const counts = { " ": 0, "-": 0, "+": 0 };
    for (const entry of body) {
      const sign = entry[0] as keyof typeof counts;
      const line = entry.slice(1).replace("\u0000\n", "");
      counts[sign]++;
      if (sign !== "+") expect(line).toBe(old[at++]);
      if (sign !== "-") made.push(line);
    }
    expect([counts[" "] + counts["-"], counts[" "] + counts["+"]]).toEqual([Number(oldCount), Number(newCount)]);
  }
  return [...made, ...old.slice(at)].join("");
}

/** Length of the longest common subsequence, by dynamic programming. */
function commonLines(a: string[], b: string[]): number {
  let row = Array<number>(b.length + 1).fill(0);
  for (const line of a) {
    const next = [0];
    for (const [at, other] of b.entries()) {
      next.push(line === other ? (row[at] ?? 0) + 1 : Math.max(row[at + 1] ?? 0, next[at] ?? 0));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

const text = fc
  .tuple(fc.array(fc.constantFrom("a", "b", "c", "", "é")), fc.boolean())
  .map(([lines, isOpen]) => lines.join("\n") + (isOpen ? "" : "\n"));

describe("text-diff", () => {
  it("returns the same text as diff -u", () => {
    expect(compare("one\ntwo\nthree\n", "one\n2\nthree\nfour", 1).diff).toBe(
      "--- before\n+++ after\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n three\n+four\n\\ No newline at end of file\n",
    );
  });
  it("returns a patch that turns one text into the other", () => {
    fc.assert(
      fc.property(text, text, fc.integer({ min: 0, max: 4 }), (before, after, context) => {
        expect(patch(before, compare(before, after, context).diff)).toBe(after);
      }),
      { numRuns: 300 },
    );
  });
  it("changes the minimum number of lines", () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const [a, b] = [linesOf(before), linesOf(after)];
        const common = commonLines(a, b);
        const { added, removed, similarity } = compare(before, after);
        expect({ added, removed }).toEqual({ added: b.length - common, removed: a.length - common });
        const lines = a.length + b.length;
        expect(similarity).toBeCloseTo(lines === 0 ? 1 : (2 * common) / lines, 4);
      }),
      { numRuns: 300 },
    );
  });
  it("splits distant changes and joins close ones", () => {
    const before = Array.from({ length: 30 }, (_, at) => `${at}\n`);
    const after = before.map((line, at) => (at === 2 || at === 8 || at === 25 ? "x\n" : line));
    const ranges = compare(before.join(""), after.join(""), 3).diff.match(/^@@.*@@$/gm);
    expect(ranges).toEqual(["@@ -1,12 +1,12 @@", "@@ -23,7 +23,7 @@"]);
  });
  it("returns an empty diff for equal texts", () => {
    expect(compare("a\nb", "a\nb")).toEqual({ diff: "", added: 0, removed: 0, similarity: 1 });
    expect(compare("", "")).toEqual({ diff: "", added: 0, removed: 0, similarity: 1 });
  });
  it("returns a correct but possibly not minimal diff for long texts with little in common", () => {
    let seed = 1;
    const random = (): number => (seed = (seed * 48_271) % 2_147_483_647);
    const make = (): string => Array.from({ length: 10_000 }, () => `${random() % 4}\n`).join("");
    const [before, after] = [make(), make()];
    expect(patch(before, compare(before, after, 0).diff)).toBe(after);
  });
});
