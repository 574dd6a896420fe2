import type { Command } from "commander";
import { print } from "../terminal/print.ts";

interface ConfigOptions {
  readonly data?: string;
  readonly json?: true;
}

/** Adds `island config`. `onDataDirectory` gives a command its `--data`, which `dataDirectoryOf` reads. */
export function addConfigCommands(
  program: Command,
  onDataDirectory: (command: Command) => Command,
  dataDirectoryOf: (options: ConfigOptions) => string,
): void {
  const config = program.command("config").description("Read and change the settings of this Island.");
  const add = (name: string): Command => onDataDirectory(config.command(name)).option("--json", "print JSON");
  add("get")
    .description("Show a setting, or all with where they come from.")
    .argument("[key]", "for example models.disk_budget_gb; without a key all are shown")
    .action(async (key: string | undefined, options: ConfigOptions) => {
      const { configCommand } = await importCommand();
      const directory = dataDirectoryOf(options);
      const value = options.json === true ? await configCommand.read(directory, process.env, key) : null;
      // An unset key is an empty line, which scripts read.
      if (options.json === true) print(options, value, "");
      else console.log(await configCommand.get(directory, process.env, key));
    });
  add("set")
    .description(
      "Change a setting. Hours, slots, threads and caps count at once, all others from the agent's next start on.",
    )
    .argument("<key>")
    .argument("<value>")
    .action(async (key: string, value: string, options: ConfigOptions) => {
      const { configCommand } = await importCommand();
      const hint = await configCommand.set(dataDirectoryOf(options), key, value);
      print(options, { key, hint }, hint ?? "");
    });
  add("unset")
    .description("Remove a setting from the file, so that its default applies.")
    .argument("<key>")
    .action(async (key: string, options: ConfigOptions) => {
      const { configCommand } = await importCommand();
      const hint = await configCommand.unset(dataDirectoryOf(options), key);
      print(options, { key, hint }, hint ?? "");
    });
  add("path")
    .description("Show where the settings file is.")
    .action(async (options: ConfigOptions) => {
      const { configCommand } = await importCommand();
      const path = configCommand.path(dataDirectoryOf(options));
      print(options, { path }, path);
    });
}

/** Loaded on use, as all work of a command. */
function importCommand() {
  return import("../../../island-agent/cli/config-command.ts");
}
