import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";
import { CliError } from "../../shared/errors.ts";

/** How often a question is asked whose answer is wrong. */
const MAX_TRIES = 3;

/** Asks at the terminal for a line, without blanks around it. @throws {CliError} when it is given up (Ctrl-C, Ctrl-D). */
export async function askLine(
  question: string,
  input: Readable = process.stdin,
  output: Writable = process.stderr,
): Promise<string> {
  const terminal = createInterface({ input, output, terminal: true });
  try {
    return (await terminal.question(question)).trim();
  } catch (cause) {
    output.write("\n");
    throw new CliError("Given up", { cause });
  } finally {
    terminal.close();
  }
}

/** Whether the user says yes at the terminal. @throws {CliError} when it is given up. */
export async function askYes(question: string): Promise<boolean> {
  return /^y(?:es)?$/i.test(await askLine(`${question} [y/N] `));
}

/**
 * Asks again when `problemOf` the answer is not null.
 * @throws {CliError} with the problem after the last try.
 */
export async function askUntilRight(
  ask: () => Promise<string>,
  problemOf: (answer: string) => string | null,
): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    const answer = await ask();
    const problem = problemOf(answer);
    if (problem === null) return answer;
    if (tries === MAX_TRIES) throw new CliError(problem);
    console.error(problem);
  }
}
