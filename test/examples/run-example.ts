import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { join } from "node:path";
import { PYTHON, PYTHON_SOURCES } from "../sdk/debian-python.ts";

export const EXAMPLES = join(import.meta.dirname, "..", "..", "examples");

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs an example in Python. `env` has the address of its coordinator. */
export function runPython(
  [name = "", ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
  stdin = "",
): Promise<Ran> {
  const own = { PYTHONPATH: PYTHON_SOURCES, PYTHONDONTWRITEBYTECODE: "1", ...env };
  return run(PYTHON, [join(EXAMPLES, name), ...args], { env: own, stdin });
}

/** Runs a program to its end. `cwd` is its working directory, by default the directory of this process. */
export async function run(
  program: string,
  args: readonly string[],
  { env, stdin = "", cwd }: { env: Readonly<Record<string, string>>; stdin?: string; cwd?: string },
): Promise<Ran> {
  const child = spawn(program, args, {
    env: { PATH: process.env["PATH"], ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
  child.stdin.end(stdin);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: child.exitCode, stdout, stderr };
}

/** Returns the output of an example. @throws with its output if it fails. */
export async function printed(ran: Promise<Ran>): Promise<string> {
  const { code, stdout, stderr } = await ran;
  if (code !== 0) throw new Error(`The example ended with ${code}:\n${stdout}${stderr}`);
  return stdout;
}
