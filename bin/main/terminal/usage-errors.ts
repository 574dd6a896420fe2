import type { Command } from "commander";
import { CliError } from "../../../shared/errors.ts";

/** A command was called in a wrong way, such as with a value that its flag does not take: exit code 2. */
export class UsageError extends CliError {
  override readonly name = "UsageError";
}

/**
 * A wrong flag, argument or command is answered in one line and a hint, not with the whole help, and rejects the parse. Call it when
 * all commands are added.
 */
export function explainUsageBriefly(command: Command, parents = ""): void {
  const path = `${parents}${command.name()}`;
  command.exitOverride();
  command.showHelpAfterError(`See: ${path} --help`);
  // Commander puts what was probably meant on a line of its own.
  command.configureOutput({ outputError: (text, write) => write(text.replace(/\n(?=\(Did you mean)/, " ")) });
  for (const each of command.commands) explainUsageBriefly(each, `${path} `);
}
