import type { Command } from "commander";
import type { EnginesLocation } from "../../../island-agent/cli/engines-commands.ts";
import { askSecret, canAsk } from "../terminal/ask.ts";
import { outputWidth, print } from "../terminal/print.ts";
import { islandLine } from "./island-line.ts";

interface DataOptions {
  readonly data?: string;
  readonly json?: true;
}

/** Adds `island engines`. `addDataOptions` adds the flag `--data`, which `dataDirectoryOf` reads. */
export function addEnginesCommands(
  program: Command,
  addDataOptions: (command: Command) => Command,
  dataDirectoryOf: (options: DataOptions) => string,
): void {
  const engines = program
    .command("engines")
    .description("Lend inference servers of this machine, such as Ollama, with their models");
  const add = (name: string): Command => addDataOptions(engines.command(name)).option("--json", "print JSON");
  const locationOf = (options: DataOptions): EnginesLocation => {
    return { dataDirectory: dataDirectoryOf(options), env: process.env };
  };
  add("find")
    .description("Look for engines at their usual ports on this machine, without changing anything")
    .action(async (options: DataOptions) => {
      const { describeFound, findEngines } = await importCommands();
      const found = await findEngines(locationOf(options));
      print(
        options,
        found,
        describeFound(found, (url) => islandLine(`engines add ${url}`, options)),
      );
    });
  add("add")
    .description("Lend an engine; a running agent uses it at once")
    .argument("<url>", "URL of the engine, for example http://127.0.0.1:11434")
    .option("--api-key-file <file>", "file with the engine's API key (default: a prompt, if the engine requires a key)")
    .action(async (url: string, options: DataOptions & { apiKeyFile?: string }) => {
      const { addEngine, describeAdded } = await importCommands();
      const ask = canAsk() ? () => askSecret("API key of the engine (not shown): ") : null;
      const added = await addEngine(locationOf(options), url, { file: options.apiKeyFile, ask });
      print(options, added, describeAdded(added, islandLine("start", options)));
    });
  add("list")
    .description("List the engines that this Island lends")
    .action(async (options: DataOptions) => {
      const { describeList, listEngines } = await importCommands();
      const listed = await listEngines(locationOf(options));
      print(options, listed, describeList(listed, outputWidth()));
    });
  add("check")
    .description("Connect to the engines and show their models and slots; the exit code is 1 if one has a problem")
    .action(async (options: DataOptions) => {
      const { checkLentEngines, describeChecked } = await importCommands();
      const checked = await checkLentEngines(locationOf(options));
      print(options, checked, describeChecked(checked));
      if (checked.some(({ problem }) => problem !== null)) process.exitCode = 1;
    });
  add("remove")
    .description("Stop lending an engine; its running jobs finish")
    .argument("<url>", "URL of the engine")
    .action(async (url: string, options: DataOptions) => {
      const { removeEngine } = await importCommands();
      const message = await removeEngine(locationOf(options), url);
      print(options, { url, message }, message);
    });
}

/** Loaded on use, as all work of a command. */
function importCommands() {
  return import("../../../island-agent/cli/engines-commands.ts");
}
