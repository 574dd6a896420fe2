import type { Command } from "commander";
import { storeLocationOf } from "../../../coordinator/config/cluster-settings.ts";
import { describeUnknownEnv, type CoordinatorConfig } from "../../../coordinator/config/resolve-config.ts";
import { hasData, openStore } from "../../../coordinator/store/open-store.ts";
import type { StoreLocation } from "../../../coordinator/store/store-location.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import { systemClock } from "../../../shared/clock.ts";
import { ServiceError } from "../../../shared/errors.ts";
import { ConfigError } from "../../../shared/settings.ts";
import { coordinatorName } from "../terminal/command-line.ts";
import { shellWord } from "../terminal/shell-word.ts";
import { CONFIG_PATHS, findConfigFile, readCoordinatorConfig } from "./coordinator-config.ts";

/** Options of all commands on a coordinator's data. */
export interface DataOptions {
  readonly data?: string;
  readonly store?: string;
  readonly config?: string;
  readonly json?: true;
}

/** Adds the options of {@link DataOptions}. */
export function addDataOptions(command: Command): Command {
  return command
    .option("--data <directory>", "data directory of the coordinator")
    .option(
      "--store <postgres-url>",
      "PostgreSQL database instead of a data directory. Set a password in $ATOLL_STORE or $PGPASSWORD: other users can see it on the command line",
    )
    .option("--config <file>", "file with settings (TOML)")
    .option("--json", "print JSON");
}

/** Reads the configuration and the data location from a command's options. @throws {ConfigError} */
export async function readDataOptions({
  config: file,
  data,
  store,
  json,
}: DataOptions): Promise<{ config: CoordinatorConfig; location: StoreLocation }> {
  const config = await readCoordinatorConfig({ config: file, data, store, json });
  if (data !== undefined && config.storeAddress !== null) {
    throw new ConfigError([
      "--data and store are mutually exclusive. Remove --data, or unset store (--store, ATOLL_STORE or the line in the settings file)",
    ]);
  }
  return { config, location: await storeLocationOf(config) };
}

/** Opens the store. Coordinators may be running. @throws {ConfigError} if the store does not exist. */
export async function withStore<T>(
  options: DataOptions,
  use: (store: Store, config: CoordinatorConfig) => Promise<T>,
  { mayCreate = false } = {},
): Promise<T> {
  const { config, location } = await readDataOptions(options);
  const isNew = !(await hasData(location));
  // A mistyped directory must not become a second, empty coordinator.
  if (isNew && !mayCreate) {
    // A mistyped variable may be the cause. The warning is printed only on a terminal, because scripts may read
    // standard error.
    const unknown = process.stderr.isTTY ? describeUnknownEnv(process.env) : null;
    throw new ConfigError([noDataIn(location, options), ...(unknown === null ? [] : [unknown])]);
  }
  await using stack = new AsyncDisposableStack();
  const store = stack.adopt(await openStore(location, systemClock), (opened) => opened.close());
  if (isNew) console.error(typeof location === "string" ? `Created a database in ${location}` : "Created the tables");
  return await use(store, config);
}

/** Returns the error for a location without data, with the next step. */
export function noDataIn(location: StoreLocation, options: DataOptions): string {
  const name = coordinatorName();
  if (typeof location !== "string") {
    return `The database has no coordinator data. Check --store, or create the data with: ${name} init, or ${name} serve`;
  }
  if (options.data !== undefined) {
    return `No coordinator data in ${location}. Check --data, or create a network with: ${name} init, or ${name} serve`;
  }
  const file = findConfigFile(options);
  if (file !== null) {
    return `No coordinator data in ${location}, the data_directory of ${file}. Check this setting, or create the data with: ${name} serve --config ${shellWord(file)}`;
  }
  const paths = CONFIG_PATHS.map((path) => `./${path}`).join(" and ");
  return (
    `No coordinator data in ${location}, and no settings in ${paths} (in ${process.cwd()}). ` +
    `Run this command in the directory in which you ran ${name} init, give --config or --data, or create a network with: ${name} init`
  );
}

/** @throws {ServiceError} `not_found` */
export async function accountIdOf(store: Store, email: string): Promise<string> {
  const found = await store.accounts.getByEmail(email);
  if (found === undefined) {
    const advice = `List all accounts with: ${coordinatorName()} account list`;
    throw new ServiceError("not_found", `No account has the e-mail address ${email}. ${advice}`);
  }
  return found.id;
}
