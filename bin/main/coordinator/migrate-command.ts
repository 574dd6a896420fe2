import type { Command } from "commander";
import { storePlaceOf } from "../../../coordinator/config/cluster-settings.ts";
import type { DataEnd } from "../../../coordinator/store/move/data-end.ts";
import { moveData, openEnd } from "../../../coordinator/store/move/move-data.ts";
import { hasData } from "../../../coordinator/store/open-store.ts";
import type { StorePlace } from "../../../coordinator/store/store-place.ts";
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

/** Adds `migrate`. No coordinator may be running on either end. */
export function addMigrateCommand(program: Command): void {
  program
    .command("migrate")
    .description(
      "Move all data between a data directory and PostgreSQL; stop the coordinators first. Repeat it to go on after a fault.",
    )
    .option("--from <place>", "sqlite:<directory> or postgres://…; beside --to sqlite: the store of the settings")
    .option("--to <place>", "the same, empty; beside --from sqlite: the store of the settings (ATOLL_STORE)")
    .option("--abandon", "forget a move from there: its data can be used again, in place of what was moved")
    .option("--config <file>", "TOML file with settings, such as cluster_key_file")
    .option("--json", "print JSON")
    .action((options: MigrateOptions) => (options.abandon === true ? abandon(options) : migrate(options)));
}

async function migrate(options: MigrateOptions): Promise<void> {
  const [source, target] = [await sourceOf(options), await targetOf(options)];
  await using stack = new AsyncDisposableStack();
  const open = async (place: StorePlace): Promise<DataEnd> =>
    stack.adopt(await openEnd(place, systemClock), (end) => end.close());
  const ends = { from: await open(source), to: await open(target) };
  const { rows, ledger } = await moveData(ends.from, ends.to, (step) => console.error(step));
  const count = Object.values(rows).reduce((sum, some) => sum + some, 0);
  const text = `${count} rows and the keys were moved and compared; the ledger has the same sums. Serve ${ends.to.name} from now on`;
  print(options, { from: ends.from.name, to: ends.to.name, rows, ledger_entries: ledger.entries }, text);
  if (typeof source === "string" && options.json !== true) console.error(`Nothing was deleted in ${ends.from.name}`);
}

async function abandon(options: MigrateOptions): Promise<void> {
  const end = await openEnd(await sourceOf(options), systemClock);
  try {
    const mark = await end.mark();
    if (mark?.role !== "source") throw new ConfigError([`No move from ${end.name} has begun`]);
    await end.forget();
    print(options, { abandoned: mark.other }, `${end.name} can be used again. Delete what was moved to ${mark.other}`);
  } finally {
    await end.close();
  }
}

/** @throws {ConfigError} if there is no data: a mistyped name must not become a new database. */
async function sourceOf(options: MigrateOptions): Promise<StorePlace> {
  const { from, to } = options;
  const place = from === undefined ? await otherEnd("--from", to, options) : await placeOf(from, options);
  if (await hasData(place)) return place;
  throw new ConfigError([`No coordinator data in ${typeof place === "string" ? place : "the database"}. Check --from`]);
}

/** @throws {ConfigError | UsageError} */
async function targetOf(options: MigrateOptions): Promise<StorePlace> {
  const { from, to } = options;
  return to === undefined ? otherEnd("--to", from, options) : placeOf(to, options);
}

/**
 * The other end of a move from or to a data directory: the store of the settings, whose password no other user of the machine sees there.
 * @throws {ConfigError | UsageError} if the settings have none.
 */
async function otherEnd(
  name: string,
  given: string | undefined,
  { config, json }: MigrateOptions,
): Promise<StorePlace> {
  const isDirectory = given?.startsWith(DIRECTORY) === true;
  const settings = isDirectory ? await readCoordinatorConfig({ config, json }) : null;
  if (settings !== null && settings.storeAddress !== null) return storePlaceOf(settings);
  const advice = isDirectory ? ", or set store (ATOLL_STORE)" : "";
  throw new UsageError(`${name} is missing: sqlite:<directory> or postgres://user@host/database${advice}`);
}

/** @throws {ConfigError | UsageError} */
async function placeOf(text: string, { config, json }: MigrateOptions): Promise<StorePlace> {
  const directory = text.startsWith(DIRECTORY) ? text.slice(DIRECTORY.length) : null;
  if (directory === "") throw new UsageError(`${text} names no directory`);
  if (directory !== null) return directory;
  if (!/^postgres(ql)?:/.test(text)) {
    throw new UsageError(`${text} is no place of data: sqlite:<directory> or postgres://user@host/database`);
  }
  return storePlaceOf(await readCoordinatorConfig({ config, store: text, json }));
}
