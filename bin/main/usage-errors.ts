import type { Command } from "commander";

/** A wrong flag, argument or command is answered in one line and a hint, not with the whole help. Call it when all commands are added. */
export function explainUsageBriefly(command: Command, parents = ""): void {
  const path = `${parents}${command.name()}`;
  command.showHelpAfterError(`See: ${path} --help`);
  // Commander puts what was probably meant on a line of its own.
  command.configureOutput({ outputError: (text, write) => write(text.replace(/\n(?=\(Did you mean)/, " ")) });
  for (const each of command.commands) explainUsageBriefly(each, `${path} `);
}
