import type { Command } from "commander";
import type { BackEndsPlace } from "../../island-agent/cli/runtimes-commands.ts";

interface DataOptions {
  data?: string;
}

/** Adds `island runtimes`. `onDataDirectory` gives a command its `--data`, which `dataDirectoryOf` reads. */
export function addRuntimesCommands(
  program: Command,
  onDataDirectory: (command: Command) => Command,
  dataDirectoryOf: (options: DataOptions) => string,
): void {
  const runtimes = program
    .command("runtimes")
    .description("List, add and remove back ends for GPUs, which do not come with the agent.");
  const placeOf = (options: DataOptions): BackEndsPlace => {
    return { dataDirectory: dataDirectoryOf(options), platform: process.platform, arch: process.arch };
  };
  onDataDirectory(runtimes.command("list"))
    .description("List the back ends for this machine.")
    .option("--json", "print JSON")
    .action(async (options: DataOptions & { json?: true }) => {
      const { describeBackEnds, listBackEnds } = await importCommands();
      const found = await listBackEnds(placeOf(options));
      console.log(options.json === true ? JSON.stringify(found) : describeBackEnds(found));
    });
  onDataDirectory(runtimes.command("add"))
    .description("Install a back end from the npm registry into the data directory.")
    .argument("<name>", "cuda or vulkan")
    .action(async (name: string, options: DataOptions) => {
      const { addBackEnd, runNpm } = await importCommands();
      console.log(await addBackEnd(placeOf(options), name, runNpm(process.env)));
    });
  onDataDirectory(runtimes.command("remove"))
    .description("Delete an added back end.")
    .argument("<name>", "cuda or vulkan")
    .action(async (name: string, options: DataOptions) => {
      const { removeBackEnd } = await importCommands();
      console.log(await removeBackEnd(placeOf(options), name));
    });
}

/** Loaded on use, as all work of a command. */
function importCommands() {
  return import("../../island-agent/cli/runtimes-commands.ts");
}
