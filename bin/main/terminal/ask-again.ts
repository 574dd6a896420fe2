import { CliError } from "../../../shared/errors.ts";
import { askLine } from "./ask.ts";

/** Maximum number of prompts for one value. Then the command fails. */
const MAX_PROMPTS = 3;

/** Prompts for a confirmation. An empty line is a no. @throws {CliError} on Ctrl-C or Ctrl-D. */
export async function askYes(question: string): Promise<boolean> {
  return /^y(?:es)?$/i.test(await askLine(`${question} [y/N] `));
}

/** Prompts for an offer that most users accept. An empty line is a yes. @throws {CliError} on Ctrl-C or Ctrl-D. */
export async function askOffer(question: string): Promise<boolean> {
  return /^(?:y(?:es)?)?$/i.test(await askLine(`${question} [Y/n] `));
}

/**
 * Prompts until `problemOf` returns null for the input.
 * @throws {CliError} with the problem after the last prompt.
 */
export async function askUntilValid(
  ask: () => Promise<string>,
  problemOf: (answer: string) => string | null,
): Promise<string> {
  for (let count = 1; ; count += 1) {
    const answer = await ask();
    const problem = problemOf(answer);
    if (problem === null) return answer;
    if (count === MAX_PROMPTS) throw new CliError(problem);
    console.error(problem);
  }
}
