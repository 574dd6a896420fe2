import { createInterface } from "node:readline";
import { Writable, type Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { CliError } from "../../shared/errors.ts";

/** A process's standard input. */
export type SecretInput = Readable & { readonly isTTY?: boolean };

/** Asks at the terminal for a line that is not shown. @throws {CliError} when it is given up (Ctrl-C, Ctrl-D). */
export function askSecret(
  question: string,
  input: SecretInput = process.stdin,
  output: Writable = process.stderr,
): Promise<string> {
  // With `terminal`, readline switches the echo off and edits the line; what it would show goes nowhere.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input, output: nowhere, terminal: true, historySize: 0 });
  output.write(question);
  return new Promise((resolve, reject) => {
    let answer: string | null = null;
    reader.once("line", (line) => {
      answer = line;
      reader.close();
    });
    reader.once("SIGINT", () => reader.close());
    reader.once("close", () => {
      output.write("\n");
      if (answer === null) reject(new CliError("Given up"));
      else resolve(answer);
    });
  });
}

/** All of standard input without its last line break; at a terminal, one line that is not shown. */
export async function readSecret(question: string, input: SecretInput = process.stdin): Promise<string> {
  if (input.isTTY === true) return askSecret(question, input);
  return (await text(input)).replace(/\r?\n$/, "");
}
