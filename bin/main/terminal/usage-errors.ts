import { Help, type Argument, type Command, type Option } from "commander";
import { CliError } from "../../../shared/errors.ts";

/** A usage error of a command, such as an invalid value of a flag. Exit code 2. */
export class UsageError extends CliError {
  override readonly name = "UsageError";
}

/**
 * Options for help texts in which each description starts with a capital letter, and default numbers are not quoted.
 */
const CAPITALISED = {
  optionDescription: (option: Option): string =>
    capitalise(Help.prototype.optionDescription(option).replace(/\(default: "(\d+)"\)$/, "(default: $1)")),
  argumentDescription: (argument: Argument): string => capitalise(Help.prototype.argumentDescription(argument)),
};

/** Description of each `help` command. */
export const HELP_TEXT = "Show the help of a command";

const capitalise = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/**
 * Makes a command report usage errors in one line with a hint, instead of with the complete help, and reject the parse.
 * Must be called after all commands are added.
 */
export function explainUsageBriefly(command: Command, parents = ""): void {
  const path = `${parents}${command.name()}`;
  command.exitOverride();
  command.showHelpAfterError(`See: ${path} --help`);
  command.configureHelp(CAPITALISED);
  // `groupCommands()` does the same for the program itself.
  if (parents !== "" && command.commands.length > 0) command.helpCommand("help [command]", HELP_TEXT);
  // Commander prints its suggestion on a separate line.
  command.configureOutput({ outputError: (text, write) => write(text.replace(/\n(?=\(Did you mean)/, " ")) });
  for (const each of command.commands) explainUsageBriefly(each, `${path} `);
}
