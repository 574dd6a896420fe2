import type { Command } from "commander";
import { HELP_TEXT } from "./usage-errors.ts";

/**
 * Lists the commands of `program` in its help under headings. Call it after all commands are added.
 * @param groups names of commands by heading.
 */
export function groupCommands(program: Command, groups: Readonly<Record<string, readonly string[]>>): void {
  for (const command of program.commands) {
    const heading = Object.keys(groups).find((each) => groups[each]?.includes(command.name()));
    if (heading === undefined) throw new Error(`The command ${command.name()} needs a heading for the help`);
    command.helpGroup(heading);
  }
  program.commandsGroup("Other:").helpCommand("help [command]", HELP_TEXT);
}
