import type { Command } from "commander";
import { readKeyFile, storePlaceOf } from "../../../coordinator/config/cluster-settings.ts";
import { hasData } from "../../../coordinator/store/open-store.ts";
import { ConfigError } from "../../../shared/settings.ts";
import { readCoordinatorConfig } from "./coordinator-config.ts";
import { withStore, type DataOptions } from "./data-commands.ts";
import { print } from "../terminal/print.ts";
import { commandActor, trailOf } from "./operator-tools.ts";

interface RotateOptions extends Pick<DataOptions, "store" | "config" | "json"> {
  readonly newKeyFile: string;
}

/** Adds `cluster-key`: the key that seals the secrets of a PostgreSQL database. */
export function addClusterKeyCommands(program: Command): void {
  const clusterKey = program.command("cluster-key").description("The key that seals the secrets in the database.");
  clusterKey
    .command("rotate")
    .description("Seal all secrets with a new key; stop the coordinators first. The present key is cluster_key.")
    .requiredOption("--new-key-file <file>", "file with the new key: openssl rand -hex 32")
    .option("--store <address>", "postgres://…")
    .option("--config <file>", "TOML file with settings")
    .option("--json", "print JSON")
    .action(rotate);
}

async function rotate(options: RotateOptions): Promise<void> {
  const { newKeyFile, config, store, json } = options;
  const place = await storePlaceOf(await readCoordinatorConfig({ config, store, json }));
  if (typeof place === "string")
    throw new ConfigError(["cluster_key seals a database: give --store, or set ATOLL_STORE"]);
  const newKey = await readKeyFile(newKeyFile);
  if (newKey.equals(place.key)) throw new ConfigError([`${newKeyFile} has the present cluster_key; make another one`]);
  if (!(await hasData(place))) throw new ConfigError(["No coordinator data in the database. Check --store"]);
  // Loaded here, because a coordinator on SQLite needs none of it.
  const { resealSecrets } = await import("../../../coordinator/store/postgres/secrets/reseal.ts");
  const resealed = await resealSecrets(place, newKey);
  print(
    options,
    { ...resealed, key_file: newKeyFile },
    `${resealed.secrets} secrets and those of ${resealed.webhooks} webhooks are sealed with the key of ${newKeyFile}. ` +
      "Make it the cluster_key of all coordinators, then start them",
  );
  // Not before, as its connection would count as a user of the database.
  const deed = { action: "cluster_key.rotate", targetKind: "coordinator", targetId: "cluster_key" } as const;
  await withStore(options, (store) => trailOf(store).note(commandActor(), deed));
}
