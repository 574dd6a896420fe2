import { Help, type Argument, type Command, type Option } from "commander";
import { CliError } from "../../../shared/errors.ts";

/** Wrong usage of a command, such as an invalid value of a flag. Exit code 2. */
export class UsageError extends CliError {
  override readonly name = "UsageError";
}

/** Help whose descriptions begin with a capital letter, and whose default numbers have no quotes. */
const CAPITALISED = {
  optionDescription: (option: Option): string =>
    capitalise(Help.prototype.optionDescription(option).replace(/\(default: "(\d+)"\)$/, "(default: $1)")),
  argumentDescription: (argument: Argument): string => capitalise(Help.prototype.argumentDescription(argument)),
};

/** Description of each `help` command. */
export const HELP_TEXT = "Show the help of a command";

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
  // `groupCommands()` does the same for the program itself.
  if (parents !== "" && command.commands.length > 0) command.helpCommand("help [command]", HELP_TEXT);
  // Commander prints its suggestion on a separate line.
  command.configureOutput({ outputError: (text, write) => write(text.replace(/\n(?=\(Did you mean)/, " ")) });
  for (const each of command.commands) explainUsageBriefly(each, `${path} `);
}
