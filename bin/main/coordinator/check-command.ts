import type { Command } from "commander";
import { checkData, hasData } from "../../../coordinator/store/open-store.ts";
import { systemClock } from "../../../shared/clock.ts";
import { ConfigError } from "../../../shared/settings.ts";
import { type DataOptions, addDataOptions, readDataOptions } from "./data-commands.ts";
import { ledgerFaultsOf } from "./ledger-commands.ts";
import { print } from "../terminal/print.ts";

const REMEDIES = {
  directory:
    "The database is damaged. Stop the coordinator, copy the data directory, and restore the most recent backup. " +
    'Without a backup, try: sqlite3 atoll.db ".recover" | sqlite3 recovered.db',
  database: "The database is damaged. Copy it with pg_dump, and restore the most recent backup",
};

/** Adds `check`. The coordinator may be running. */
export function addCheckCommand(program: Command): void {
  addDataOptions(program.command("check"))
    .description("Check the database for damage; the exit code is 1 if it is damaged")
    .action(async (options: DataOptions) => {
      const { location } = await readDataOptions(options);
      const isDirectory = typeof location === "string";
      if (!isDirectory && !(await hasData(location)))
        throw new ConfigError(["The database has no coordinator data. Check --store"]);
      const { faults: damage, ledger } = await checkData(location, systemClock);
      const faults = [...damage, ...(ledger === null ? [] : ledgerFaultsOf(ledger))];
      const isWhole = faults.length === 0;
      const remedy = REMEDIES[isDirectory ? "directory" : "database"];
      print(options, { whole: isWhole, faults }, isWhole ? "The database is intact" : [...faults, remedy].join("\n"));
      if (!isWhole) process.exitCode = 1;
    });
}
