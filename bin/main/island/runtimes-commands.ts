import type { Command } from "commander";
import type { BackEndsLocation } from "../../../island-agent/cli/runtimes-commands.ts";
import { print } from "../terminal/print.ts";

interface DataOptions {
  readonly data?: string;
  readonly json?: true;
}

/** Adds `island runtimes`. `addDataOptions` adds the flag `--data`, which `dataDirectoryOf` reads. */
export function addRuntimesCommands(
  program: Command,
  addDataOptions: (command: Command) => Command,
  dataDirectoryOf: (options: DataOptions) => string,
): void {
  const runtimes = program
    .command("runtimes")
    .description("List, add and remove GPU back ends that are not included in the agent");
  const locationOf = (options: DataOptions): BackEndsLocation => {
    return { dataDirectory: dataDirectoryOf(options), platform: process.platform, arch: process.arch };
  };
  addDataOptions(runtimes.command("list"))
    .description("List the back ends for this machine")
    .option("--json", "print JSON")
    .action(async (options: DataOptions) => {
      const { describeBackEnds, listBackEnds } = await importCommands();
      const found = await listBackEnds(locationOf(options));
      print(options, found, describeBackEnds(found));
    });
  addDataOptions(runtimes.command("add"))
    .description("Install a back end from the npm registry into the data directory")
    .argument("<name>", "name of the back end: cuda or vulkan")
    .option("--json", "print JSON")
    .action(async (name: string, options: DataOptions) => {
      const { addBackEnd, runNpm } = await importCommands();
      const message = await addBackEnd(locationOf(options), name, runNpm(process.env));
      print(options, { name, message }, message);
    });
  addDataOptions(runtimes.command("remove"))
    .description("Remove a back end that was added")
    .argument("<name>", "name of the back end: cuda or vulkan")
    .option("--json", "print JSON")
    .action(async (name: string, options: DataOptions) => {
      const { removeBackEnd } = await importCommands();
      const message = await removeBackEnd(locationOf(options), name);
      print(options, { name, message }, message);
    });
}

/** Loads the module on use, as all commands do. */
function importCommands() {
  return import("../../../island-agent/cli/runtimes-commands.ts");
}
