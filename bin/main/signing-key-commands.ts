import { createPublicKey, type KeyObject } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { DATABASE_FILE } from "../../coordinator/coordinator.ts";
import { readKeyInUse } from "../../coordinator/islands/key-in-use.ts";
import { makeSigningKey, readSigningKey } from "../../coordinator/islands/signing-key.ts";
import { fingerprintOf, publicKeyText } from "../../shared/cargo-signature.ts";
import { ConfigError } from "../../shared/settings.ts";
import { readCoordinatorConfig } from "./coordinator-config.ts";
import { onDataDirectory, print, type DataOptions } from "./data-commands.ts";

/** Adds `signing-key`: the key that Islands pin when they join, and run nothing without. */
export function addSigningKeyCommands(program: Command): void {
  const signingKey = program.command("signing-key").description("The key that signs Cargos for the Islands.");
  onDataDirectory(signingKey.command("show"))
    .description("Show fingerprint and public key, for the owners of Islands to compare when they join.")
    .action(async (options: DataOptions) => {
      const dataDirectory = await dataDirectoryOf(options);
      const found = await readSigningKey(dataDirectory);
      if (found === null) throw new ConfigError([`No signing key in ${dataDirectory} yet: the first serve makes it`]);
      const publicKey = tell(options, found.key);
      if (!found.isPrivate) console.error(`Warning: other users can read ${found.path}: chmod 600`);
      const inUse = await readKeyInUse(dataDirectory);
      if (inUse === null || inUse === publicKey) return;
      console.error(
        `Not in use before the coordinator's next start: Islands are shown ${fingerprintOf(inUse)} until then.`,
      );
    });
  onDataDirectory(signingKey.command("rotate"))
    .description("Make another key, used from the next start on. Every Island must join again then.")
    .action(async (options: DataOptions) => {
      tell(options, await makeSigningKey(await dataDirectoryOf(options)));
      console.error(
        "Restart the coordinator. Islands leave it until their owners have joined again with --fingerprint.",
      );
    });
}

/** Prints the key; returns its public part, base64. */
function tell(options: DataOptions, key: KeyObject): string {
  const publicKey = publicKeyText(createPublicKey(key));
  const fingerprint = fingerprintOf(publicKey);
  print(options, { fingerprint, public_key: publicKey }, `${fingerprint}\n${publicKey}`);
  return publicKey;
}

/** @throws {ConfigError} when there is none: a mistyped directory must not get a key. */
async function dataDirectoryOf(options: DataOptions): Promise<string> {
  const { dataDirectory } = await readCoordinatorConfig({ config: options.config, data: options.data });
  if (existsSync(join(dataDirectory, DATABASE_FILE))) return dataDirectory;
  throw new ConfigError([`No coordinator data in ${dataDirectory}; start it once with serve`]);
}
