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
import { noDataIn, addDataOptions, readDataOptions, type DataOptions } from "./data-commands.ts";
import { print } from "../terminal/print.ts";
import { shellWord } from "../terminal/shell-word.ts";

/** The key files that a backup includes. The coordinator can create all other files again. */
const KEY_FILES = ["signing.key", WEBHOOK_KEY_FILE];

/** Adds `backup`. The coordinator may be running. */
export function addBackupCommand(program: Command): void {
  const command = program
    .command("backup")
    .argument("<directory>", "new directory for the copy, which can be used as a data directory")
    .description("Copy the database and the keys of a data directory; the coordinator may be running");
  addDataOptions(command).action(backUp);
}

async function backUp(directory: string, options: DataOptions): Promise<void> {
  const { config, location: dataDirectory } = await readDataOptions(options);
  if (typeof dataDirectory !== "string")
    throw new ConfigError([
      "backup can only copy a data directory, but store is set to a PostgreSQL database. Back it up with pg_dump",
    ]);
  const file = join(dataDirectory, DATABASE_FILE);
  if (!existsSync(file)) throw new ConfigError([noDataIn(dataDirectory, options)]);
  const target = resolve(directory);
  const copy = join(target, DATABASE_FILE);
  if (existsSync(copy)) throw new CliError(`${copy} already exists. Give a directory without a database`);
  mkdirSync(target, { recursive: true, mode: 0o700 });
  const keys = KEY_FILES.filter((name) => existsSync(join(dataDirectory, name)));
  for (const name of keys) copyFileSync(join(dataDirectory, name), join(target, name), constants.COPYFILE_EXCL);
  // The database is copied last, so that a directory that contains one is complete.
  const { bytes } = backUpDatabase(file, copy);
  const models = importedModelsDirectory({ dataDirectory });
  const { filesDirectoryOf } = await import("../../../coordinator/files/open-files.ts");
  const files = filesDirectoryOf(config);
  const copyWith = (folder: string): string => `Copy them with: cp -a ${shellWord(folder)} ${shellWord(target)}`;
  const filesAdvice =
    config.filesDirectory === null ? copyWith(files) : "Back up this directory (files_dir) separately";
  const left = [
    { folder: files, text: `the contents of accounts' files. ${filesAdvice}` },
    { folder: models, text: `the files of imported Cargos. ${copyWith(models)}` },
  ].filter(({ folder }) => existsSync(folder));
  print(
    options,
    { directory: target, bytes, keys, left_out: left.map(({ folder }) => folder) },
    [
      `Copied the database to ${copy} (${formatBytes(bytes)}), with ${keys.join(" and ")}. Keep the copy as private as the data directory`,
      ...left.map(({ folder, text }) => `Not copied: ${folder}, ${text}`),
    ].join("\n"),
  );
}
