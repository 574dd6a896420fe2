import { CliError } from "../../../shared/errors.ts";
import { askLine } from "./ask.ts";

/** How often a question is asked whose answer is wrong. */
const MAX_TRIES = 3;

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
