import type { Command } from "commander";
import { CliError } from "../../../shared/errors.ts";

/** Wrong usage of a command, such as an invalid value of a flag. Exit code 2. */
export class UsageError extends CliError {
  override readonly name = "UsageError";
}

/**
 * Reports wrong usage in one line with a hint instead of the complete help, and rejects the parse. Call it after all commands are added.
 */
export function explainUsageBriefly(command: Command, parents = ""): void {
  const path = `${parents}${command.name()}`;
  command.exitOverride();
  command.showHelpAfterError(`See: ${path} --help`);
  // Commander prints its suggestion on a separate line.
  command.configureOutput({ outputError: (text, write) => write(text.replace(/\n(?=\(Did you mean)/, " ")) });
  for (const each of command.commands) explainUsageBriefly(each, `${path} `);
}
