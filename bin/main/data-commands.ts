import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { CoordinatorConfig } from "../../coordinator/config/resolve-config.ts";
import { DATABASE_FILE, openStore } from "../../coordinator/store/open-store.ts";
import type { Store } from "../../coordinator/store/store.ts";
import { systemClock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import { ConfigError } from "../../shared/settings.ts";
import { readCoordinatorConfig } from "./coordinator-config.ts";

/** Options of every command on a data directory. */
export interface DataOptions {
  readonly data?: string;
  readonly config?: string;
  readonly json?: true;
}

/** Adds the options of {@link DataOptions}. */
export function onDataDirectory(command: Command): Command {
  return command
    .option("--data <directory>", "the coordinator's data directory; the coordinator may be running")
    .option("--config <file>", "TOML file with settings")
    .option("--json", "print JSON");
}

/** Prints `value` as JSON with `--json`, else `text` unless it is empty. */
export function print(options: DataOptions, value: unknown, text: string): void {
  if (options.json === true) console.log(JSON.stringify(value));
  else if (text !== "") console.log(text);
}

/** Opens the store of the data directory, also beside a running coordinator. @throws {ConfigError} if there is none. */
export async function withStore(
  options: DataOptions,
  use: (store: Store, config: CoordinatorConfig) => Promise<void>,
  { mayCreate = false } = {},
): Promise<void> {
  const config = await readCoordinatorConfig({ config: options.config, data: options.data });
  const { dataDirectory } = config;
  const isNew = !existsSync(join(dataDirectory, DATABASE_FILE));
  // A mistyped directory must not become a second, empty coordinator.
  if (isNew && !mayCreate) {
    throw new ConfigError([
      `No coordinator data in ${dataDirectory}. Check --data, or create it with: coordinator serve, or coordinator account create`,
    ]);
  }
  await using stack = new AsyncDisposableStack();
  const store = stack.adopt(await openStore(dataDirectory, systemClock), (opened) => opened.close());
  if (isNew) console.error(`Made a new database in ${dataDirectory}`);
  await use(store, config);
}

/** @throws {ServiceError} `not_found` */
export async function accountIdOf(store: Store, email: string): Promise<string> {
  const found = await store.accounts.getByEmail(email);
  if (found === undefined) throw new ServiceError("not_found", `There is no account with the e-mail address ${email}`);
  return found.id;
}
