import type { Command } from "commander";
import { checkData, hasData } from "../../../coordinator/store/open-store.ts";
import { systemClock } from "../../../shared/clock.ts";
import { ConfigError } from "../../../shared/settings.ts";
import { type DataOptions, onDataDirectory, readDataOptions } from "./data-commands.ts";
import { ledgerFaultsOf } from "./ledger-commands.ts";
import { print } from "../terminal/print.ts";

const REMEDIES = {
  directory:
    "The database is damaged. Stop the coordinator, keep a copy of the data directory, and restore the last backup. " +
    'Without one, try: sqlite3 atoll.db ".recover" | sqlite3 recovered.db',
  database: "The database is not whole. Keep a copy (pg_dump), and restore the last backup",
};

/** `coordinator check`: whether the database is whole. It works beside a running coordinator. */
export function addCheckCommand(program: Command): void {
  onDataDirectory(program.command("check"))
    .description("Check the database for damage; exits with 1 if there is any. ledger verify checks the balances.")
    .action(async (options: DataOptions) => {
      const { place } = await readDataOptions(options);
      const isDirectory = typeof place === "string";
      if (!isDirectory && !(await hasData(place))) throw new ConfigError(["No coordinator data in the database"]);
      const { faults: damage, ledger } = await checkData(place, systemClock);
      const faults = [...damage, ...(ledger === null ? [] : ledgerFaultsOf(ledger))];
      const isWhole = faults.length === 0;
      const remedy = REMEDIES[isDirectory ? "directory" : "database"];
      print(options, { whole: isWhole, faults }, isWhole ? "The database is whole" : [...faults, remedy].join("\n"));
      if (!isWhole) process.exitCode = 1;
    });
}
