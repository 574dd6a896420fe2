import { PassThrough } from "node:stream";
import { afterEach, describe, expect, it, vi } from "vitest";
import { askLine, askUntilRight } from "../../../bin/main/ask-line.ts";

afterEach(() => vi.restoreAllMocks());

const answer = (keys: string): Promise<string> => {
  const input = Object.assign(new PassThrough(), { isTTY: true as const, setRawMode: () => undefined });
  const asked = askLine("Name? ", input, new PassThrough());
  input.write(keys);
  return asked;
};

describe("askLine()", () => {
  it("reads a line without the blanks around it", async () => {
    expect(await answer(" garage \r")).toBe("garage");
  });

  it.each([
    ["Ctrl-C", "gar\u0003"],
    ["Ctrl-D", "\u0004"],
  ])("%s gives up, which is no bug", async (_name, keys) => {
    await expect(answer(keys)).rejects.toThrow("Given up");
  });
});

describe("askUntilRight()", () => {
  const problemOf = (text: string): string | null => (text === "right" ? null : `${text} is wrong`);

  it("says what is wrong and asks again", async () => {
    const told = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const answers = ["a", "right"];
    expect(await askUntilRight(async () => answers.shift() ?? "", problemOf)).toBe("right");
    expect(told.mock.calls).toEqual([["a is wrong"]]);
  });

  it("gives up after three wrong answers", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    let asked = 0;
    await expect(askUntilRight(async () => `${(asked += 1)}`, problemOf)).rejects.toThrow("3 is wrong");
  });
});
