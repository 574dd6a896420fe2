import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { DATABASE_FILE } from "../../../coordinator/store/open-store.ts";
import { lockForServing } from "../../../coordinator/store/sqlite/engine/serve-lock.ts";
import { vacuumDatabase } from "../../../coordinator/store/sqlite/engine/maintenance.ts";
import { formatBytes } from "../../../shared/format-bytes.ts";
import { ConfigError } from "../../../shared/settings.ts";
import { noDataIn, addDataOptions, readDataOptions, type DataOptions } from "./data-commands.ts";
import { print } from "../terminal/print.ts";

/** Adds `vacuum`. The coordinator must not be running. */
export function addVacuumCommand(program: Command): void {
  const command = program
    .command("vacuum")
    .description("Return the space of deleted rows to the file system; stop the coordinator first");
  addDataOptions(command).action(vacuum);
}

async function vacuum(options: DataOptions): Promise<void> {
  const { location: dataDirectory } = await readDataOptions(options);
  if (typeof dataDirectory !== "string") {
    throw new ConfigError([
      "vacuum requires a data directory, but store is set to a PostgreSQL database. Nothing needs to be done: PostgreSQL has autovacuum",
    ]);
  }
  const file = join(dataDirectory, DATABASE_FILE);
  if (!existsSync(file)) throw new ConfigError([noDataIn(dataDirectory, options)]);
  const lock = lockForServing(dataDirectory);
  try {
    // The temporary copy that SQLite makes contains prompts and is as large as the database, so it must not be written
    // to /tmp.
    process.env["SQLITE_TMPDIR"] ??= dataDirectory;
    const { beforeBytes, afterBytes } = vacuumDatabase(file);
    print(
      options,
      { before_bytes: beforeBytes, after_bytes: afterBytes },
      `Reduced ${file} from ${formatBytes(beforeBytes)} to ${formatBytes(afterBytes)}`,
    );
  } finally {
    lock.release();
  }
}
