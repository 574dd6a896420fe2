import type { Command } from "commander";
import { vi } from "vitest";
import { coordinatorCommands } from "../../bin/main/coordinator/coordinator-commands.ts";
import { COORDINATOR_ERRORS } from "../../bin/main/coordinator/coordinator-errors.ts";
import { reportError } from "../../bin/main/terminal/report-error.ts";
import type { ProgramResult } from "./program.ts";

/**
 * Runs a command of `coordinator` in this process, one at a time. This saves the third of a second that a program takes
 * to start. Commands that depend on the environment or standard input, and `serve`, need a separate program
 * (`runProgram`).
 */
export async function runCommand(...args: string[]): Promise<ProgramResult> {
  let [stdout, stderr] = ["", ""];
  const log = vi.spyOn(console, "log").mockImplementation((line: string) => (stdout += `${line}\n`));
  const error = vi.spyOn(console, "error").mockImplementation((line: string) => (stderr += `${line}\n`));
  const { exitCode } = process;
  process.exitCode = 0;
  try {
    const commands = coordinatorCommands("test");
    for (const each of withSubcommands(commands)) {
      each.configureOutput({ writeOut: (text) => (stdout += text), writeErr: (text) => (stderr += text) });
    }
    await commands.parseAsync(args, { from: "user" });
  } catch (failure) {
    process.exitCode = reportError(failure, { expected: COORDINATOR_ERRORS, asJson: args.includes("--json") });
  } finally {
    log.mockRestore();
    error.mockRestore();
  }
  const code = process.exitCode;
  process.exitCode = exitCode;
  return { code, stdout, stderr };
}

const withSubcommands = (command: Command): Command[] => [command, ...command.commands.flatMap(withSubcommands)];
