import { afterEach, describe, expect, it, vi } from "vitest";
import { askUntilValid } from "../../../../bin/main/terminal/ask-again.ts";

afterEach(() => vi.restoreAllMocks());

describe("askUntilValid()", () => {
  const problemOf = (text: string): string | null => (text === "right" ? null : `${text} is wrong`);

  it("prints the problem, and asks again", async () => {
    const errors = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const answers = ["a", "right"];
    expect(await askUntilValid(async () => answers.shift() ?? "", problemOf)).toBe("right");
    expect(errors.mock.calls).toEqual([["a is wrong"]]);
  });

  it("gives up after three wrong answers", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    let count = 0;
    await expect(askUntilValid(async () => `${(count += 1)}`, problemOf)).rejects.toThrow("3 is wrong");
  });
});
