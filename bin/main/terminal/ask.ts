import { createInterface, type Key } from "node:readline";
import { Writable, type Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { CliError } from "../../../shared/errors.ts";

/** A process's standard input. */
type SecretInput = Readable & { readonly isTTY?: boolean };

const MAX_CHARACTERS = 1_000;

/** Whether standard input is a terminal, so that prompts are possible. */
export function canAsk(input: SecretInput = process.stdin): boolean {
  return input.isTTY === true;
}

/** Prompts for a line and trims it. @throws {CliError} on Ctrl-C or Ctrl-D, or if the line is too long. */
export async function askLine(
  question: string,
  input: SecretInput = process.stdin,
  output: Writable = process.stderr,
): Promise<string> {
  return (await ask(question, input, output, output)).trim();
}

/** Prompts for a line without echo, and does not trim it. @throws {CliError} like {@link askLine} */
export function askSecret(
  question: string,
  input: SecretInput = process.stdin,
  output: Writable = process.stderr,
): Promise<string> {
  // With `terminal`, readline switches the echo off and edits the line; its output is discarded.
  return ask(question, input, output, new Writable({ write: (_chunk, _encoding, done) => done() }));
}

/** @param echo the stream on which readline shows what is typed. */
function ask(question: string, input: SecretInput, output: Writable, echo: Writable): Promise<string> {
  const reader = createInterface({ input, output: echo, terminal: true, historySize: 0 });
  // Readline repeats its prompt when it shows the line again.
  reader.setPrompt(question);
  if (echo === output) reader.prompt();
  else output.write(question);
  // With an echo, the line break that ends the input is shown as well.
  let isBroken = false;
  return new Promise<string>((resolve, reject) => {
    const giveUp = (): void => {
      reject(new CliError("Cancelled"));
      reader.close();
    };
    reader.once("line", (line) => {
      isBroken = echo === output;
      if (line.length > MAX_CHARACTERS)
        reject(new CliError(`Input must have at most ${MAX_CHARACTERS} characters, got ${line.length}`));
      else resolve(line);
      reader.close();
    });
    reader.once("SIGINT", giveUp);
    reader.once("close", giveUp);
    // Readline would ignore Ctrl-D in a line, and accept an incomplete line when the terminal is closed.
    const onKey = (_text: unknown, { ctrl, name }: Key): void => (ctrl === true && name === "d" ? giveUp() : undefined);
    input.on("keypress", onKey);
    input.prependListener("end", giveUp);
    reader.once("close", () => {
      input.off("keypress", onKey);
      input.off("end", giveUp);
      if (!isBroken) output.write("\n");
    });
  });
}

/**
 * Returns all of standard input without its last line break. At a terminal, prompts for one line and does not show it.
 */
export async function readSecret(question: string, input: SecretInput = process.stdin): Promise<string> {
  if (canAsk(input)) return askSecret(question, input);
  return (await text(input)).replace(/\r?\n$/, "");
}
