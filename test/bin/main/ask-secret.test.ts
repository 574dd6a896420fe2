import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { askSecret, readSecret } from "../../../bin/main/ask-secret.ts";

function terminal(): { input: PassThrough & { isTTY: true; setRawMode: (on: boolean) => void }; modes: boolean[] } {
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), { isTTY: true as const, setRawMode: (on: boolean) => modes.push(on) });
  return { input, modes };
}

it("asks for a line that is not shown, and gives the terminal back", async () => {
  const { input, modes } = terminal();
  const output = new PassThrough();
  const answer = askSecret("Password: ", input, output);
  input.write("correcd\u007Ft horse\r");
  expect(await answer).toBe("correct horse");
  output.end();
  expect(await text(output)).toBe("Password: \n");
  expect(modes).toEqual([true, false]);
});

it.each([
  ["Ctrl-C", "\u0003"],
  ["Ctrl-D", "\u0004"],
])("%s gives up", async (_name, key) => {
  const { input, modes } = terminal();
  const answer = askSecret("Password: ", input, new PassThrough());
  input.write(key);
  await expect(answer).rejects.toThrow("Given up");
  expect(modes).toEqual([true, false]);
});

it("reads a pipe to its end, without its last line break", async () => {
  const input = new PassThrough();
  input.end("correct horse\r\n");
  expect(await readSecret("Password: ", input)).toBe("correct horse");
});
