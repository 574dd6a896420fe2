import { createPublicKey, type KeyObject } from "node:crypto";
import type { Command } from "commander";
import { makeSigningKey, readKeyInUse, readSigningKey } from "../../../coordinator/islands/signing-key.ts";
import { hasData } from "../../../coordinator/store/open-store.ts";
import { fileSecrets } from "../../../coordinator/store/secrets/file-secrets.ts";
import type { SharedSecrets } from "../../../coordinator/store/secrets/shared-secrets.ts";
import { fingerprintOf, publicKeyText } from "../../../shared/cargo-signature.ts";
import { CliError } from "../../../shared/errors.ts";
import { ConfigError } from "../../../shared/settings.ts";
import { askYes } from "../terminal/ask-again.ts";
import { coordinatorName, givenFlags } from "../terminal/command-line.ts";
import { noDataIn, addDataOptions, readDataOptions, withStore, type DataOptions } from "./data-commands.ts";
import { commandActor, trailOf } from "./operator-tools.ts";
import { print } from "../terminal/print.ts";

/** Adds `signing-key`. Islands pin this key when they join, and run only Cargos that it signed. */
export function addSigningKeyCommands(program: Command): void {
  const signingKey = program.command("signing-key").description("Manage the key that signs Cargos for the Islands");
  addDataOptions(signingKey.command("show"))
    .description("Show the fingerprint, which owners of Islands compare when they join, and the public key")
    .action((options: DataOptions) => withSecrets(options, (secrets, where) => show(options, secrets, where)));
  addDataOptions(signingKey.command("rotate"))
    .description("Create a new key for the next start of the coordinator; then every Island must join again")
    .option("--yes", "skip the confirmation")
    .action((options: DataOptions & { yes?: true }, command: Command) =>
      withSecrets(options, async (secrets) => {
        // `withSecrets` has already printed the path of the settings file.
        const quiet = { ...options, json: true } as const;
        await assertConfirmed(await knownIslands(quiet), options, command);
        const publicKey = printKey(options, await makeSigningKey(secrets));
        await auditRotation(quiet);
        const { config } = await readDataOptions(quiet);
        const address = config.publicUrl ?? "<address of this coordinator>";
        console.error(
          "Restart the coordinator to use the new key. Then run this command on every Island:\n" +
            `  island join ${address} --fingerprint ${fingerprintOf(publicKey)}`,
        );
      }),
    );
}

/** Returns the number of known Islands; null if the database is damaged, which does not prevent a new key. */
function knownIslands(options: DataOptions): Promise<number | null> {
  return withStore(options, async ({ operators }) => (await operators.countIslands(0)).known).catch(() => null);
}

/** @throws {CliError} unless the operator answers yes or gave --yes. */
async function assertConfirmed(
  islands: number | null,
  options: { readonly yes?: true },
  command: Command,
): Promise<void> {
  if (options.yes === true) return;
  const count = islands ?? "unknown, because the database cannot be read";
  const consequence = `Once the coordinator uses a new key, an Island can connect only after it has joined again with the new fingerprint (known Islands: ${count}).`;
  if (!process.stdin.isTTY) {
    const retryCommand = `${coordinatorName()} signing-key rotate${givenFlags(command)} --yes`;
    throw new CliError(
      `${consequence} Nothing was changed, because standard input is not a terminal and cannot confirm the change. To create the key, run: ${retryCommand}`,
    );
  }
  console.error(consequence);
  if (!(await askYes("Create a new key?"))) throw new CliError("The signing key was not changed");
}

/** Adds an audit event, unless the database is damaged. */
async function auditRotation(options: DataOptions): Promise<void> {
  const auditEvent = { action: "signing_key.rotate", targetKind: "coordinator", targetId: "signing_key" } as const;
  await withStore(options, (store) => trailOf(store).note(commandActor(), auditEvent)).catch((error: unknown) => {
    console.error(
      `The new key was created, but the audit log has no entry for it: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
}

async function show(options: DataOptions, secrets: SharedSecrets, where: string): Promise<void> {
  const found = await readSigningKey(secrets);
  if (found === null) {
    throw new ConfigError([
      `${where} has no signing key yet. The coordinator creates it when it first starts: ${coordinatorName()} serve`,
    ]);
  }
  const publicKey = printKey(options, found.key);
  if (!found.isPrivate) console.error(`Warning: other users can read ${found.path}. Run: chmod 600 ${found.path}`);
  const inUse = await readKeyInUse(secrets);
  if (inUse === null || inUse === publicKey) return;
  console.error(`The coordinator uses this key after its next start. Until then it uses ${fingerprintOf(inUse)}.`);
}

/** Prints the key. Returns its public part as base64. */
function printKey(options: DataOptions, key: KeyObject): string {
  const publicKey = publicKeyText(createPublicKey(key));
  const fingerprint = fingerprintOf(publicKey);
  print(options, { fingerprint, public_key: publicKey }, `${fingerprint}\n${publicKey}`);
  return publicKey;
}

/** @throws {ConfigError} if there is no database: a mistyped directory must not get a key. */
async function withSecrets(
  options: DataOptions,
  use: (secrets: SharedSecrets, where: string) => Promise<void>,
): Promise<void> {
  const { location } = await readDataOptions(options);
  if (typeof location !== "string") return withStore(options, ({ secrets }) => use(secrets, "The database"));
  // The keys are files, so this also works if the database is damaged.
  if (await hasData(location)) return use(fileSecrets(location), location);
  throw new ConfigError([noDataIn(location, options)]);
}
