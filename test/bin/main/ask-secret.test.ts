import { PassThrough } from "node:stream";
import { beforeEach, describe, expect, it } from "vitest";
import { askSecret, canAsk, type Terminal } from "../../../bin/main/ask-secret.ts";

let modes: boolean[];
let shown: string;
let input: PassThrough & Terminal;
const output = new PassThrough();
output.on("data", (text: Buffer) => (shown += text.toString()));

beforeEach(() => {
  modes = [];
  shown = "";
  input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (isRaw: boolean) => modes.push(isRaw) });
});

const typed = (...texts: string[]): Promise<string> => {
  const asked = askSecret("Code: ", input, output);
  for (const text of texts) input.write(text);
  return asked;
};

describe("askSecret()", () => {
  it("reads a line that is not shown, with what was corrected", async () => {
    expect(await typed("AB", "CX", "\u007F", "D-EFGH\r", "more")).toBe("ABCD-EFGH");
    expect([modes, shown]).toEqual([[true, false], "Code: \n"]);
  });

  it.each(["AB\u0003", "AB\u0004"])("ends without an answer: %j", async (text) => {
    await expect(typed(text)).rejects.toThrow("Nothing was entered");
    expect(modes).toEqual([true, false]);
  });

  it("ends when the terminal goes away", async () => {
    const asked = typed("AB");
    input.end();
    await expect(asked).rejects.toThrow("Nothing was entered");
  });

  it("is possible at a terminal only", () => {
    expect([canAsk(input), canAsk(new PassThrough())]).toEqual([true, false]);
  });
});
