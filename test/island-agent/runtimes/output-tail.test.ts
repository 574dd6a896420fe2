import { describe, expect, it } from "vitest";
import { OutputTail } from "../../../island-agent/runtimes/output-tail.ts";

function tailOf(pieces: readonly string[], mostBytes: number): string {
  const tail = new OutputTail(mostBytes);
  for (const piece of pieces) tail.push(Buffer.from(piece));
  return tail.text();
}

describe("OutputTail", () => {
  it("keeps short output", () => {
    expect(tailOf(["a", "", "b"], 10)).toBe("ab");
    expect(tailOf([], 10)).toBe("");
  });

  it.each([1, 3, 7, 1_000])("keeps the last bytes of output in pieces of %d bytes", (size) => {
    const text = Array.from({ length: 500 }, (_, index) => index).join("-");
    const pieces = text.match(new RegExp(`.{1,${size}}`, "g")) ?? [];
    expect(tailOf(pieces, 20)).toBe(text.slice(-20));
  });

  it.each([10, 1_000, 100_000])("limits its memory for output in pieces of %d bytes", (size) => {
    const tail = new OutputTail(1_000);
    const held = Array.from({ length: 500 }, () => {
      tail.push(Buffer.alloc(size, "x"));
      return tail.heldBytes;
    });
    expect(Math.max(...held)).toBeLessThan(3_000);
  });

  it("removes control characters except line ends and tabs", () => {
    expect(tailOf(["\u001b[31mred\u0007\u0000\tand\nmore\r\n"], 100)).toBe("[31mred\tand\nmore");
  });
});
