import type { Command } from "commander";
import { checkData } from "../../coordinator/store/open-store.ts";
import { readCoordinatorConfig } from "./coordinator-config.ts";
import { type DataOptions, onDataDirectory, print } from "./data-commands.ts";

const REMEDY =
  "The database is damaged. Stop the coordinator, keep a copy of the data directory, and restore the last backup. " +
  'Without one, try: sqlite3 atoll.db ".recover" | sqlite3 recovered.db';

/** `coordinator check`: whether the database is whole. It works beside a running coordinator. */
export function addCheckCommand(program: Command): void {
  onDataDirectory(program.command("check"))
    .description("Check the database for damage; exits with 1 if there is any. ledger verify checks the balances.")
    .action(async (options: DataOptions) => {
      const { dataDirectory } = await readCoordinatorConfig({ config: options.config, data: options.data });
      const faults = checkData(dataDirectory);
      const isWhole = faults.length === 0;
      print(options, { whole: isWhole, faults }, isWhole ? "The database is whole" : [...faults, REMEDY].join("\n"));
      if (!isWhole) process.exitCode = 1;
    });
}
