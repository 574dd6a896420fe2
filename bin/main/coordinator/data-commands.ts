import type { Command } from "commander";
import { storePlaceOf } from "../../../coordinator/config/cluster-settings.ts";
import { describeUnknownEnv, type CoordinatorConfig } from "../../../coordinator/config/resolve-config.ts";
import { hasData, openStore } from "../../../coordinator/store/open-store.ts";
import type { StorePlace } from "../../../coordinator/store/store-place.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import { systemClock } from "../../../shared/clock.ts";
import { ServiceError } from "../../../shared/errors.ts";
import { ConfigError } from "../../../shared/settings.ts";
import { coordinatorName } from "../terminal/command-line.ts";
import { shellWord } from "../terminal/shell-word.ts";
import { CONFIG_PLACES, findConfigFile, readCoordinatorConfig } from "./coordinator-config.ts";

/** Options of every command on a coordinator's data. */
export interface DataOptions {
  readonly data?: string;
  readonly store?: string;
  readonly config?: string;
  readonly json?: true;
}

/** Adds the options of {@link DataOptions}. */
export function onDataDirectory(command: Command): Command {
  return command
    .option("--data <directory>", "the coordinator's data directory; the coordinator may be running")
    .option(
      "--store <address>",
      "postgres://… in place of a data directory; coordinators may be running. A password belongs into $ATOLL_STORE or $PGPASSWORD: others see it here",
    )
    .option("--config <file>", "TOML file with settings")
    .option("--json", "print JSON");
}

/** The configuration that a command's options name, and where the data is. @throws {ConfigError} */
export async function readDataOptions({
  config: file,
  data,
  store,
  json,
}: DataOptions): Promise<{ config: CoordinatorConfig; place: StorePlace }> {
  const config = await readCoordinatorConfig({ config: file, data, store, json });
  if (data !== undefined && config.storeAddress !== null) {
    throw new ConfigError([
      "--data and a store are both given: leave out --data, or the setting store (--store, ATOLL_STORE or a line of the settings file)",
    ]);
  }
  return { config, place: await storePlaceOf(config) };
}

/** Opens the store, also beside running coordinators. @throws {ConfigError} if there is none. */
export async function withStore<T>(
  options: DataOptions,
  use: (store: Store, config: CoordinatorConfig) => Promise<T>,
  { mayCreate = false } = {},
): Promise<T> {
  const { config, place } = await readDataOptions(options);
  const isNew = !(await hasData(place));
  // A mistyped directory must not become a second, empty coordinator.
  if (isNew && !mayCreate) {
    // A mistyped variable may be why. Not into the error output of scripts.
    const unknown = process.stderr.isTTY ? describeUnknownEnv(process.env) : null;
    throw new ConfigError([noDataIn(place, options), ...(unknown === null ? [] : [unknown])]);
  }
  await using stack = new AsyncDisposableStack();
  const store = stack.adopt(await openStore(place, systemClock), (opened) => opened.close());
  if (isNew) console.error(typeof place === "string" ? `Made a new database in ${place}` : "Made the tables");
  return await use(store, config);
}

/** Says what was looked for, and what to do next. */
export function noDataIn(place: StorePlace, options: DataOptions): string {
  const name = coordinatorName();
  if (typeof place !== "string") {
    return `No coordinator data in the database. Check --store, or make it with: ${name} init, or ${name} serve`;
  }
  if (options.data !== undefined) {
    return `No coordinator data in ${place}. Check --data, or make a network with: ${name} init, or ${name} serve`;
  }
  const file = findConfigFile(options);
  if (file !== null) {
    return `No coordinator data in ${place}, which ${file} names. Check its data_directory, or make the data with: ${name} serve --config ${shellWord(file)}`;
  }
  const places = CONFIG_PLACES.map((path) => `./${path}`).join(" and ");
  return (
    `No coordinator data in ${place}, and no settings in ${places} (in ${process.cwd()}). ` +
    `Go to the directory in which you ran ${name} init, give --config or --data, or make a network with: ${name} init`
  );
}

/** @throws {ServiceError} `not_found` */
export async function accountIdOf(store: Store, email: string): Promise<string> {
  const found = await store.accounts.getByEmail(email);
  if (found === undefined) throw new ServiceError("not_found", `There is no account with the e-mail address ${email}`);
  return found.id;
}
