import { constants, copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { importedModelsDirectory } from "../../../coordinator/catalog/imported-models.ts";
import { DATABASE_FILE } from "../../../coordinator/store/open-store.ts";
import { backUpDatabase } from "../../../coordinator/store/sqlite/engine/maintenance.ts";
import { WEBHOOK_KEY_FILE } from "../../../coordinator/store/sqlite/sqlite-store.ts";
import { CliError } from "../../../shared/errors.ts";
import { formatBytes } from "../../../shared/format-bytes.ts";
import { ConfigError } from "../../../shared/settings.ts";
import { noDataIn, onDataDirectory, readDataOptions, type DataOptions } from "./data-commands.ts";
import { print } from "../terminal/print.ts";

/** What a coordinator needs besides its database; the others are made again. */
const KEY_FILES = ["signing.key", WEBHOOK_KEY_FILE];

/** Adds `backup`. The coordinator may be running. */
export function addBackupCommand(program: Command): void {
  const command = program
    .command("backup")
    .argument("<directory>", "a new directory, which is then a data directory with the same content")
    .description("Copy a data directory as it is at this moment, with its keys, beside a running coordinator.");
  onDataDirectory(command).action(backUp);
}

async function backUp(directory: string, options: DataOptions): Promise<void> {
  const { place: dataDirectory } = await readDataOptions(options);
  if (typeof dataDirectory !== "string") throw new ConfigError(["backup is for a data directory: use pg_dump"]);
  const file = join(dataDirectory, DATABASE_FILE);
  if (!existsSync(file)) throw new ConfigError([noDataIn(dataDirectory, options)]);
  const target = resolve(directory);
  const copy = join(target, DATABASE_FILE);
  if (existsSync(copy)) throw new CliError(`${copy} is there already: choose another directory`);
  mkdirSync(target, { recursive: true, mode: 0o700 });
  const keys = KEY_FILES.filter((name) => existsSync(join(dataDirectory, name)));
  for (const name of keys) copyFileSync(join(dataDirectory, name), join(target, name), constants.COPYFILE_EXCL);
  // Last of all: a directory that has it is complete.
  const { bytes } = backUpDatabase(file, copy);
  const models = importedModelsDirectory({ dataDirectory });
  const left = existsSync(models) ? [models] : [];
  print(
    options,
    { directory: target, bytes, keys, left_out: left },
    [
      `${copy}: ${formatBytes(bytes)}, with ${keys.join(" and ")}. Keep it as private as the data directory`,
      ...left.map(
        (path) => `Not in it: ${path}, the files of imported Cargos. Keep a copy of them: cp -a ${path} ${target}`,
      ),
    ].join("\n"),
  );
}
