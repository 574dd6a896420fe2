import type { Readable, Writable } from "node:stream";
import { CliError } from "../../shared/errors.ts";

/** A terminal, as far as this needs one. */
export interface Terminal extends Readable {
  readonly isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
}

const MAX_CHARACTERS = 1_000;
const [CTRL_C, CTRL_D, BACKSPACE, DELETE] = ["\u0003", "\u0004", "\b", "\u007F"];

/** Whether somebody sits there who can be asked. */
export function canAsk(input: Terminal): boolean {
  return input.isTTY === true && input.setRawMode !== undefined;
}

/** Asks for a line that nobody sees. @throws {CliError} when the user gives up. */
export async function askSecret(question: string, input: Terminal, output: Writable): Promise<string> {
  output.write(question);
  // Before the first key: what is typed meanwhile is not shown either.
  input.setRawMode?.(true);
  input.setEncoding("utf8");
  try {
    return await readLine(input);
  } finally {
    input.setRawMode?.(false);
    input.pause();
    output.write("\n");
  }
}

function readLine(input: Terminal): Promise<string> {
  return new Promise((resolve, reject) => {
    let line: string[] = [];
    const end = (settle: () => void): void => {
      input.off("data", read);
      input.off("end", giveUp);
      settle();
    };
    const giveUp = (): void => end(() => reject(new CliError("Nothing was entered")));
    const read = (text: string): void => {
      for (const character of text) {
        if (character === "\r" || character === "\n") return end(() => resolve(line.join("")));
        if (character === CTRL_C || character === CTRL_D) return giveUp();
        if (character === BACKSPACE || character === DELETE) line = line.slice(0, -1);
        else if (line.length < MAX_CHARACTERS) line.push(character);
      }
      return undefined;
    };
    input.on("data", read);
    input.on("end", giveUp);
  });
}
