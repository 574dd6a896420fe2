import { createPublicKey, type KeyObject } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { readKeyInUse } from "../../coordinator/islands/key-in-use.ts";
import { makeSigningKey, readSigningKey } from "../../coordinator/islands/signing-key.ts";
import { DATABASE_FILE } from "../../coordinator/store/open-store.ts";
import { fingerprintOf, publicKeyText } from "../../shared/cargo-signature.ts";
import { ConfigError } from "../../shared/settings.ts";
import { readCoordinatorConfig } from "./coordinator-config.ts";
import { onDataDirectory, print, type DataOptions } from "./data-commands.ts";

/** Adds `signing-key`. Islands pin this key when they join, and run only Cargos that it signed. */
export function addSigningKeyCommands(program: Command): void {
  const signingKey = program.command("signing-key").description("The key that signs Cargos for the Islands.");
  onDataDirectory(signingKey.command("show"))
    .description("Show fingerprint and public key. Owners of Islands compare the fingerprint when they join.")
    .action(async (options: DataOptions) => {
      const dataDirectory = await dataDirectoryOf(options);
      const found = await readSigningKey(dataDirectory);
      if (found === null)
        throw new ConfigError([`No signing key in ${dataDirectory} yet. The first start makes it: coordinator serve`]);
      const publicKey = tell(options, found.key);
      if (!found.isPrivate) console.error(`Warning: other users can read ${found.path}. Run: chmod 600 ${found.path}`);
      const inUse = await readKeyInUse(dataDirectory);
      if (inUse === null || inUse === publicKey) return;
      console.error(
        `This key is used from the coordinator's next start. Until then Islands are shown ${fingerprintOf(inUse)}.`,
      );
    });
  onDataDirectory(signingKey.command("rotate"))
    .description("Make a new key, used from the coordinator's next start. Every Island must then join again.")
    .action(async (options: DataOptions) => {
      tell(options, await makeSigningKey(await dataDirectoryOf(options)));
      console.error(
        "Restart the coordinator to use the new key. Islands stay away until their owners join again with --fingerprint.",
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

/** @throws {ConfigError} if it has no database: a mistyped directory must not get a key. */
async function dataDirectoryOf(options: DataOptions): Promise<string> {
  const { dataDirectory } = await readCoordinatorConfig({ config: options.config, data: options.data });
  if (existsSync(join(dataDirectory, DATABASE_FILE))) return dataDirectory;
  throw new ConfigError([
    `No coordinator data in ${dataDirectory}. Check --data, or create it with: coordinator serve`,
  ]);
}
