import type { Command } from "commander";
import { CliError } from "../../shared/errors.ts";
import type { ModelsPlace } from "../../island-agent/cli/models-commands.ts";
import { systemClock } from "../../shared/clock.ts";
import { askYes } from "./ask-line.ts";

interface DataOptions {
  data?: string;
}

/** Adds `island models`. `onDataDirectory` gives a command its `--data`, which `dataDirectoryOf` reads. */
export function addModelsCommands(
  program: Command,
  onDataDirectory: (command: Command) => Command,
  dataDirectoryOf: (options: DataOptions) => string,
): void {
  const models = program
    .command("models")
    .description("List, download and delete what Cargos have on this Island's disk.");
  const placeOf = (options: DataOptions): ModelsPlace => {
    return { dataDirectory: dataDirectoryOf(options), env: process.env, clock: systemClock };
  };
  onDataDirectory(models.command("ls"))
    .description("List what is on disk, the last used first.")
    .option("--json", "print JSON")
    .action(async (options: DataOptions & { json?: true }) => {
      const { describeModels, listModels } = await importCommands();
      const items = await listModels(placeOf(options));
      console.log(options.json === true ? JSON.stringify(items) : describeModels(items));
    });
  onDataDirectory(models.command("pull"))
    .description("Let the running agent download what a Cargo needs.")
    .argument("<cargo>", "its slug, for example tiny-chat")
    .action(async (slug: string, options: DataOptions) => {
      const { pullModel } = await importCommands();
      const { openProgress } = await import("../../island-agent/cli/progress-bar.ts");
      console.log(await pullModel(placeOf(options), slug, openProgress(process.stderr)));
    });
  onDataDirectory(models.command("rm"))
    .description("Delete what a Cargo has on disk, unless it is in use.")
    .argument("<name>", "slug of the Cargo, or the key that ls --json shows")
    .action(async (name: string, options: DataOptions) => {
      const { removeModel } = await importCommands();
      console.log(await removeModel(placeOf(options), name));
    });
  onDataDirectory(models.command("prune"))
    .description("Delete everything that is not in use.")
    .option("--yes", "do not ask for confirmation")
    .action(async (options: DataOptions & { yes?: true }) => {
      if (options.yes !== true && !(await isConfirmed())) return console.log("Nothing was deleted");
      const { pruneModels } = await importCommands();
      console.log(await pruneModels(placeOf(options)));
    });
}

/** Loaded on use, because it imports the stores. */
function importCommands() {
  return import("../../island-agent/cli/models-commands.ts");
}

async function isConfirmed(): Promise<boolean> {
  if (process.stdin.isTTY) return askYes("Delete everything that no Cargo uses now?");
  throw new CliError(
    "Cannot ask for confirmation without a terminal: add --yes to delete everything that is not in use",
  );
}
