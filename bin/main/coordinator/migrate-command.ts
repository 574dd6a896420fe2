import type { Command } from "commander";
import { storeLocationOf } from "../../../coordinator/config/cluster-settings.ts";
import type { MigrationEndpoint } from "../../../coordinator/store/move/migration-endpoint.ts";
import { moveData, openEnd } from "../../../coordinator/store/move/move-data.ts";
import { hasData } from "../../../coordinator/store/open-store.ts";
import type { StoreLocation } from "../../../coordinator/store/store-location.ts";
import { systemClock } from "../../../shared/clock.ts";
import { ConfigError } from "../../../shared/settings.ts";
import { readCoordinatorConfig } from "./coordinator-config.ts";
import { print } from "../terminal/print.ts";
import { UsageError } from "../terminal/usage-errors.ts";

const DIRECTORY = "sqlite:";

interface MigrateOptions {
  readonly from?: string;
  readonly to?: string;
  readonly abandon?: true;
  readonly config?: string;
  readonly json?: true;
}

/** Adds `migrate`. All coordinators of both the source and the target must be stopped. */
export function addMigrateCommand(program: Command): void {
  program
    .command("migrate")
    .description("Move all data between a data directory and PostgreSQL; stop the coordinators first")
    .option(
      "--from <source>",
      "source of the data: sqlite:<directory> or postgres://… (default: the store setting, if --to is a directory)",
    )
    .option(
      "--to <target>",
      "target, which must be empty: sqlite:<directory> or postgres://… (default: the store setting, if --from is a directory)",
    )
    .option("--abandon", "cancel a move from --from, so that its data can be used again")
    .option("--config <file>", "file with settings (TOML), such as cluster_key_file")
    .option("--json", "print JSON")
    .action((options: MigrateOptions) => (options.abandon === true ? abandon(options) : migrate(options)));
}

async function migrate(options: MigrateOptions): Promise<void> {
  const [source, target] = [await sourceOf(options), await targetOf(options)];
  await using stack = new AsyncDisposableStack();
  const open = async (location: StoreLocation): Promise<MigrationEndpoint> =>
    stack.adopt(await openEnd(location, systemClock), (end) => end.close());
  const ends = { from: await open(source), to: await open(target) };
  const { rows, ledger } = await moveData(ends.from, ends.to, (step) => console.error(step));
  const count = Object.values(rows).reduce((sum, some) => sum + some, 0);
  const text = `Moved ${count} rows and the keys, and verified the rows and the sums of the ledger. From now on, run the coordinator with ${ends.to.name}`;
  print(options, { from: ends.from.name, to: ends.to.name, rows, ledger_entries: ledger.entries }, text);
  if (typeof source === "string" && options.json !== true) console.error(`Nothing was deleted in ${ends.from.name}`);
}

async function abandon(options: MigrateOptions): Promise<void> {
  const end = await openEnd(await sourceOf(options), systemClock);
  try {
    const mark = await end.mark();
    if (mark?.role !== "source")
      throw new ConfigError([`No move from ${end.name} has started, so none can be cancelled. Check --from`]);
    await end.forget();
    print(options, { abandoned: mark.other }, `${end.name} can be used again. Delete the copied data in ${mark.other}`);
  } finally {
    await end.close();
  }
}

/** @throws {ConfigError} if there is no data: a mistyped name must not become a new database. */
async function sourceOf(options: MigrateOptions): Promise<StoreLocation> {
  const { from, to } = options;
  const location =
    from === undefined ? await endFromStoreSetting("--from", to, options) : await readLocation("--from", from, options);
  if (await hasData(location)) return location;
  throw new ConfigError([
    `No coordinator data in ${typeof location === "string" ? location : "the database"}. Check --from`,
  ]);
}

/** @throws {ConfigError | UsageError} */
async function targetOf(options: MigrateOptions): Promise<StoreLocation> {
  const { from, to } = options;
  return to === undefined ? endFromStoreSetting("--to", from, options) : readLocation("--to", to, options);
}

/**
 * Returns the database that the setting `store` names, as the source or target that the flags leave out. Unlike a flag,
 * a setting does not show its password to other users.
 * @throws {ConfigError | UsageError} if the setting is not set.
 */
async function endFromStoreSetting(
  name: string,
  given: string | undefined,
  { config, json }: MigrateOptions,
): Promise<StoreLocation> {
  const isDirectory = given?.startsWith(DIRECTORY) === true;
  const settings = isDirectory ? await readCoordinatorConfig({ config, json }) : null;
  if (settings !== null && settings.storeAddress !== null) return storeLocationOf(settings);
  const advice = isDirectory ? ", or set store (ATOLL_STORE)" : "";
  throw new UsageError(`${name} is required. Give sqlite:<directory> or postgres://user@host/database${advice}`);
}

/** @throws {ConfigError | UsageError} */
async function readLocation(flag: string, text: string, { config, json }: MigrateOptions): Promise<StoreLocation> {
  const directory = text.startsWith(DIRECTORY) ? text.slice(DIRECTORY.length) : null;
  if (directory === "") throw new UsageError(`${flag}: must be sqlite:<directory>, got ${JSON.stringify(text)}`);
  if (directory !== null) return directory;
  if (!/^postgres(ql)?:/.test(text)) {
    throw new UsageError(
      `${flag}: must be sqlite:<directory> or postgres://user@host/database, got ${JSON.stringify(text)}`,
    );
  }
  return storeLocationOf(await readCoordinatorConfig({ config, store: text, json }));
}
