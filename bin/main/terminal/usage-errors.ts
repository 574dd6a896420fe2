import { Help, type Argument, type Command, type Option } from "commander";
import { CliError } from "../../../shared/errors.ts";

/** Wrong usage of a command, such as an invalid value of a flag. Exit code 2. */
export class UsageError extends CliError {
  override readonly name = "UsageError";
}

/** Help whose descriptions begin with a capital letter, as those of commands and settings do. */
const CAPITALISED = {
  optionDescription: (option: Option): string => capitalise(Help.prototype.optionDescription(option)),
  argumentDescription: (argument: Argument): string => capitalise(Help.prototype.argumentDescription(argument)),
};

const capitalise = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/**
 * Reports wrong usage in one line with a hint instead of the complete help, and rejects the parse. Call it after all
 * commands are added.
 */
export function explainUsageBriefly(command: Command, parents = ""): void {
  const path = `${parents}${command.name()}`;
  command.exitOverride();
  command.showHelpAfterError(`See: ${path} --help`);
  command.configureHelp(CAPITALISED);
  // Commander prints its suggestion on a separate line.
  command.configureOutput({ outputError: (text, write) => write(text.replace(/\n(?=\(Did you mean)/, " ")) });
  for (const each of command.commands) explainUsageBriefly(each, `${path} `);
}
