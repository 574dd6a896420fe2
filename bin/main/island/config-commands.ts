import type { Command } from "commander";
import { print } from "../terminal/print.ts";

interface ConfigOptions {
  readonly data?: string;
  readonly json?: true;
}

/** Adds `island config`. `addDataOptions` adds the flag `--data`, which `dataDirectoryOf` reads. */
export function addConfigCommands(
  program: Command,
  addDataOptions: (command: Command) => Command,
  dataDirectoryOf: (options: ConfigOptions) => string,
): void {
  const config = program.command("config").description("Show and change the settings of this Island");
  const add = (name: string): Command => addDataOptions(config.command(name)).option("--json", "print JSON");
  add("get")
    .description("Show one setting, or all settings with their sources")
    .argument("[key]", "key of the setting, for example models.disk_budget_gb (default: all)")
    .action(async (key: string | undefined, options: ConfigOptions) => {
      const { configCommand } = await importCommand();
      const directory = dataDirectoryOf(options);
      const value = options.json === true ? await configCommand.read(directory, process.env, key) : null;
      // Scripts read an unset key as an empty line.
      if (options.json === true) print(options, value, "");
      else console.log(await configCommand.get(directory, process.env, key));
    });
  add("set")
    .description(
      "Change a setting; hours, slots, threads, caps and engines apply at once, others at the next start of the agent",
    )
    .argument("<key>", "key of the setting, for example models.disk_budget_gb")
    .argument("<value>", "new value")
    .action(async (key: string, value: string, options: ConfigOptions) => {
      const { configCommand } = await importCommand();
      const hint = await configCommand.set(dataDirectoryOf(options), key, value);
      print(options, { key, hint }, hint ?? "");
    });
  add("unset")
    .description("Remove a setting from the file, so that its default applies")
    .argument("<key>", "key of the setting")
    .action(async (key: string, options: ConfigOptions) => {
      const { configCommand } = await importCommand();
      const hint = await configCommand.unset(dataDirectoryOf(options), key);
      print(options, { key, hint }, hint ?? "");
    });
  add("path")
    .description("Show the path of the settings file")
    .action(async (options: ConfigOptions) => {
      const { configCommand } = await importCommand();
      const path = configCommand.path(dataDirectoryOf(options));
      print(options, { path }, path);
    });
}

/** Loads the module on use, as all commands do. */
function importCommand() {
  return import("../../../island-agent/cli/config-command.ts");
}
