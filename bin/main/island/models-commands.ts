import type { Command } from "commander";
import { CliError } from "../../../shared/errors.ts";
import type { ModelsLocation } from "../../../island-agent/cli/models-commands.ts";
import { systemClock } from "../../../shared/clock.ts";
import { askYes } from "../terminal/ask-again.ts";
import { outputWidth, print } from "../terminal/print.ts";

interface DataOptions {
  readonly data?: string;
  readonly json?: true;
}

/** Adds `island models`. `addDataOptions` adds the flag `--data`, which `dataDirectoryOf` reads. */
export function addModelsCommands(
  program: Command,
  addDataOptions: (command: Command) => Command,
  dataDirectoryOf: (options: DataOptions) => string,
): void {
  const models = program
    .command("models")
    .description("List, download, import and delete the models and images of Cargos");
  const locationOf = (options: DataOptions): ModelsLocation => {
    return { dataDirectory: dataDirectoryOf(options), env: process.env, clock: systemClock };
  };
  addDataOptions(models.command("ls"))
    .description("List the models and images on disk, the most recently used first")
    .option("--json", "print JSON")
    .action(async (options: DataOptions) => {
      const { describeModels, listModels } = await importCommands();
      const items = await listModels(locationOf(options));
      print(options, items, describeModels(items, outputWidth()));
    });
  addDataOptions(models.command("pull"))
    .description("Download the model or image of a Cargo with the running agent")
    .argument("<cargo>", "slug of the Cargo, for example tiny-chat")
    .option("--json", "print JSON")
    .action(async (slug: string, options: DataOptions) => {
      const { pullModel } = await importCommands();
      const { openProgress } = await import("../../../island-agent/cli/progress-bar.ts");
      const message = await pullModel(locationOf(options), slug, openProgress(process.stderr));
      print(options, { name: slug, message }, message);
    });
  addDataOptions(models.command("import"))
    .description("Import a model file of this machine that a Cargo references by its SHA-256")
    .argument("<file>", "path of the model file, for example a .gguf file")
    .option("--json", "print JSON")
    .action(async (file: string, options: DataOptions) => {
      const { importModel } = await import("../../../island-agent/cli/import-command.ts");
      const { openProgress } = await import("../../../island-agent/cli/progress-bar.ts");
      const message = await importModel(locationOf(options), file, openProgress(process.stderr));
      print(options, { file, message }, message);
    });
  addDataOptions(models.command("rm"))
    .description("Delete the model or image of a Cargo, unless a job uses it")
    .argument("<name>", "slug of the Cargo, or the key that `ls --json` shows")
    .option("--json", "print JSON")
    .action(async (name: string, options: DataOptions) => {
      const { removeModel } = await importCommands();
      const message = await removeModel(locationOf(options), name);
      print(options, { name, message }, message);
    });
  addDataOptions(models.command("unload"))
    .description("Remove Cargos that no job uses from memory; their files stay on disk")
    .argument("[cargo]", "slug of the Cargo (default: all)")
    .option("--json", "print JSON")
    .action(async (slug: string | undefined, options: DataOptions) => {
      const { unloadModels } = await importCommands();
      const message = await unloadModels(locationOf(options), slug);
      print(options, { name: slug ?? null, message }, message);
    });
  addDataOptions(models.command("prune"))
    .description("Delete all models and images that no job uses")
    .option("--yes", "skip the confirmation")
    .option("--json", "print JSON")
    .action(async (options: DataOptions & { yes?: true }) => {
      const isWanted = options.yes === true || (await isConfirmed());
      const { pruneModels } = await importCommands();
      const message = isWanted ? await pruneModels(locationOf(options)) : "Nothing was deleted";
      print(options, { pruned: isWanted, message }, message);
    });
}

/** Loads the module on use, because it imports the stores. */
function importCommands() {
  return import("../../../island-agent/cli/models-commands.ts");
}

async function isConfirmed(): Promise<boolean> {
  if (process.stdin.isTTY) return askYes("Delete all models and images that are not in use?");
  throw new CliError(
    "Nothing was deleted, because standard input is not a terminal and cannot confirm this. To delete all models and images that are not in use, add --yes",
  );
}
