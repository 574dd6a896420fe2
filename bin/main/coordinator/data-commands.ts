import type { Command } from "commander";
import { storePlaceOf } from "../../../coordinator/config/cluster-settings.ts";
import { describeUnknownEnv } from "../../../coordinator/config/unknown-env.ts";
import type { CoordinatorConfig } from "../../../coordinator/config/resolve-config.ts";
import { hasData, openStore } from "../../../coordinator/store/open-store.ts";
import type { StorePlace } from "../../../coordinator/store/store-place.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import { systemClock } from "../../../shared/clock.ts";
import { ServiceError } from "../../../shared/errors.ts";
import { ConfigError } from "../../../shared/settings.ts";
import { readCoordinatorConfig } from "./coordinator-config.ts";

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
}: DataOptions): Promise<{ config: CoordinatorConfig; place: StorePlace }> {
  const config = await readCoordinatorConfig({ config: file, data, store });
  if (data !== undefined && config.storeAddress !== null) {
    throw new ConfigError(["--data and a store are both given: leave out --data, or --store (ATOLL_STORE)"]);
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
  const [where, flag] = typeof place === "string" ? [place, "--data"] : ["the database", "--store"];
  // A mistyped directory must not become a second, empty coordinator.
  if (isNew && !mayCreate) {
    // A mistyped variable may be why. Not into the error output of scripts.
    const unknown = process.stderr.isTTY ? describeUnknownEnv(process.env) : null;
    throw new ConfigError([
      `No coordinator data in ${where}. Check ${flag}, or create it with: coordinator init, or coordinator serve`,
      ...(unknown === null ? [] : [unknown]),
    ]);
  }
  await using stack = new AsyncDisposableStack();
  const store = stack.adopt(await openStore(place, systemClock), (opened) => opened.close());
  if (isNew) console.error(typeof place === "string" ? `Made a new database in ${where}` : "Made the tables");
  return await use(store, config);
}

/** @throws {ServiceError} `not_found` */
export async function accountIdOf(store: Store, email: string): Promise<string> {
  const found = await store.accounts.getByEmail(email);
  if (found === undefined) throw new ServiceError("not_found", `There is no account with the e-mail address ${email}`);
  return found.id;
}
