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
  const line = askSecret("Code: ", input, output);
  for (const part of texts) input.write(part);
  return line;
};

describe("askLine()", () => {
  it("shows the question and the line, and throws at Ctrl-C", async () => {
    const line = askLine("E-mail: ", input, output);
    input.write(" ann@example.com \r");
    expect(await line).toBe("ann@example.com");
    const givenUp = askLine("E-mail: ", input, output);
    input.write("an\u0003");
    await expect(givenUp).rejects.toThrow("Cancelled");
    output.end();
    expect(stripVTControlCharacters(await text(output))).toBe("E-mail:  ann@example.com \r\nE-mail: an\n");
  });
});

describe("askSecret()", () => {
  it("reads a corrected line without showing it, and resets the terminal", async () => {
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
  ])("throws at %s", async (_name, keys) => {
    await expect(typed(keys)).rejects.toThrow("Cancelled");
    expect(modes).toEqual([true, false]);
  });

  it("throws when the terminal is closed", async () => {
    const line = typed("AB");
    input.end();
    await expect(line).rejects.toThrow("Cancelled");
  });

  it("refuses a secret that is too long", async () => {
    expect(await typed("x".repeat(1_000), "\r")).toHaveLength(1_000);
    await expect(typed("x".repeat(1_001), "\r")).rejects.toThrow("Input must have at most 1000 characters");
  });

  it("can ask twice at the same terminal", async () => {
    expect(await typed("one\r")).toBe("one");
    expect(await typed("two\r")).toBe("two");
    expect(input.listenerCount("end")).toBe(new PassThrough().listenerCount("end"));
  });

  it("requires a terminal, as canAsk() reports", () => {
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
