import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { stripVTControlCharacters } from "node:util";
import { beforeEach, describe, expect, it } from "vitest";
import { askLine, askSecret, canAsk, readSecret } from "../../../../bin/main/terminal/ask.ts";

let modes: boolean[];
let input: PassThrough & { isTTY: true; setRawMode: (on: boolean) => void };
let output: PassThrough;

beforeEach(() => {
  modes = [];
  input = Object.assign(new PassThrough(), { isTTY: true as const, setRawMode: (on: boolean) => modes.push(on) });
  output = new PassThrough();
});

const typed = (...texts: string[]): Promise<string> => {
  const asked = askSecret("Code: ", input, output);
  for (const part of texts) input.write(part);
  return asked;
};

describe("askLine()", () => {
  it("shows the question and the line, and gives up at Ctrl-C", async () => {
    const asked = askLine("E-mail: ", input, output);
    input.write(" ann@example.com \r");
    expect(await asked).toBe("ann@example.com");
    const givenUp = askLine("E-mail: ", input, output);
    input.write("an\u0003");
    await expect(givenUp).rejects.toThrow("Cancelled");
    output.end();
    expect(stripVTControlCharacters(await text(output))).toBe("E-mail:  ann@example.com \r\nE-mail: an\n");
  });
});

describe("askSecret()", () => {
  it("reads a line that is not shown, with what was corrected, and gives the terminal back", async () => {
    expect(await typed("AB", "CX", "\u007F", "D-EFGH\r", "more")).toBe("ABCD-EFGH");
    expect(modes).toEqual([true, false]);
    output.end();
    expect(await text(output)).toBe("Code: \n");
  });

  it.each([
    ["Ctrl-C", "\u0003"],
    ["Ctrl-D", "\u0004"],
    ["Ctrl-C in a line", "AB\u0003"],
    ["Ctrl-D in a line", "AB\u0004"],
  ])("%s gives up", async (_name, keys) => {
    await expect(typed(keys)).rejects.toThrow("Cancelled");
    expect(modes).toEqual([true, false]);
  });

  it("gives up when the terminal goes away", async () => {
    const asked = typed("AB");
    input.end();
    await expect(asked).rejects.toThrow("Cancelled");
  });

  it("refuses what is too long for a secret", async () => {
    expect(await typed("x".repeat(1_000), "\r")).toHaveLength(1_000);
    await expect(typed("x".repeat(1_001), "\r")).rejects.toThrow("Input must have at most 1000 characters");
  });

  it("asks twice at the same terminal", async () => {
    expect(await typed("one\r")).toBe("one");
    expect(await typed("two\r")).toBe("two");
    expect(input.listenerCount("end")).toBe(new PassThrough().listenerCount("end"));
  });

  it("is possible at a terminal only", () => {
    expect([canAsk(input), canAsk(new PassThrough())]).toEqual([true, false]);
  });
});

describe("readSecret()", () => {
  it("reads a pipe to its end, without its last line break", async () => {
    const pipe = new PassThrough();
    pipe.end("correct horse\r\n");
    expect(await readSecret("Password: ", pipe)).toBe("correct horse");
  });
});
