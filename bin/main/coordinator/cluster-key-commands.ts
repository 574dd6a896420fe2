import type { Command } from "commander";
import { readKeyFile, storeLocationOf } from "../../../coordinator/config/cluster-settings.ts";
import { hasData } from "../../../coordinator/store/open-store.ts";
import { ConfigError } from "../../../shared/settings.ts";
import { readCoordinatorConfig } from "./coordinator-config.ts";
import { withStore, type DataOptions } from "./data-commands.ts";
import { print } from "../terminal/print.ts";
import { commandActor, trailOf } from "./operator-tools.ts";

interface RotateOptions extends Pick<DataOptions, "store" | "config" | "json"> {
  readonly newKeyFile: string;
}

/** Adds `cluster-key`, which manages the key that encrypts the secrets in a PostgreSQL database. */
export function addClusterKeyCommands(program: Command): void {
  const clusterKey = program
    .command("cluster-key")
    .description("Manage the key that encrypts the secrets in the database");
  clusterKey
    .command("rotate")
    .description("Encrypt all secrets with a new key instead of cluster_key; stop the coordinators first")
    .requiredOption("--new-key-file <file>", "file with the new key (openssl rand -hex 32)")
    .option("--store <postgres-url>", "PostgreSQL database")
    .option("--config <file>", "file with settings (TOML)")
    .option("--json", "print JSON")
    .action(rotate);
}

async function rotate(options: RotateOptions): Promise<void> {
  const { newKeyFile, config, store, json } = options;
  const location = await storeLocationOf(await readCoordinatorConfig({ config, store, json }));
  if (typeof location === "string")
    throw new ConfigError([
      "cluster-key requires a PostgreSQL database, but store is not set. Give --store or set ATOLL_STORE",
    ]);
  const newKey = await readKeyFile(newKeyFile);
  if (newKey.equals(location.key))
    throw new ConfigError([
      `${newKeyFile}: must contain a new key, got the current cluster_key. Generate one with: openssl rand -hex 32`,
    ]);
  if (!(await hasData(location))) throw new ConfigError(["The database has no coordinator data. Check --store"]);
  // The module is loaded here, because a coordinator on SQLite does not need it.
  const { resealSecrets } = await import("../../../coordinator/store/postgres/secrets/reseal.ts");
  const resealed = await resealSecrets(location, newKey);
  print(
    options,
    { ...resealed, key_file: newKeyFile },
    `Encrypted ${resealed.secrets} secrets and those of ${resealed.webhooks} webhooks with the key in ${newKeyFile}. ` +
      "Set it as cluster_key of all coordinators, then start them",
  );
  // The store is opened only now, because its connection would count as a user of the database.
  const auditEvent = { action: "cluster_key.rotate", targetKind: "coordinator", targetId: "cluster_key" } as const;
  await withStore(options, (store) => trailOf(store).note(commandActor(), auditEvent));
}
