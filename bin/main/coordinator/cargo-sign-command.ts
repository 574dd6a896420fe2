import { createPrivateKey, createPublicKey, sign, type KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { cargoOf, readCargo } from "../../../coordinator/catalog/cargo-file.ts";
import { missingPin } from "../../../coordinator/catalog/cargo-pins.ts";
import { manifestOf } from "../../../shared/cargo.ts";
import { endorsedBytes, publicKeyText } from "../../../shared/cargo-signature.ts";
import { CliError, ValidationError } from "../../../shared/errors.ts";

/**
 * Adds `coordinator cargo sign`, which signs a Cargo's file with a key that owners of Islands trust. The command does
 * not use a data directory.
 */
export function addCargoSignCommand(cargo: Command): void {
  cargo
    .command("sign <file>")
    .description(
      "Sign a Cargo's file with your key and print it, for Islands that require your signature (cargos.signed_by)",
    )
    .requiredOption("--key <file>", "Ed25519 private key in PEM (openssl genpkey -algorithm ed25519)")
    .action(async (path: string, { key: keyPath }: { key: string }) => {
      const key = await readKey(keyPath);
      const json = await readJson(path);
      const { signatures: before = [], ...unsigned } = json as { signatures?: { public_key: string }[] };
      const read = readCargo(unsigned);
      if ("errors" in read) throw new ValidationError(read.errors);
      if (missingPin(read.file) !== null)
        throw new CliError(
          `${path}: the Cargo is not pinned. Add the hash, commit or digest of its files before you sign it`,
        );
      const signature = sign(null, endorsedBytes(manifestOf(cargoOf(read.file))), key).toString("base64");
      const public_key = publicKeyText(createPublicKey(key));
      const signatures = [...before.filter((each) => each.public_key !== public_key), { public_key, signature }];
      console.log(JSON.stringify({ ...unsigned, signatures }, null, 2));
    });
}

async function readKey(path: string): Promise<KeyObject> {
  const text = await readFile(path, "utf8");
  let key: KeyObject;
  try {
    key = createPrivateKey(text);
  } catch (error) {
    throw new CliError(
      `${path}: must contain a private key in PEM. Generate one with: openssl genpkey -algorithm ed25519`,
      { cause: error },
    );
  }
  if (key.asymmetricKeyType === "ed25519") return key;
  throw new CliError(
    `${path}: must contain an Ed25519 key, got ${key.asymmetricKeyType}. Generate one with: openssl genpkey -algorithm ed25519`,
  );
}

async function readJson(path: string): Promise<unknown> {
  const text = await readFile(path, "utf8");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CliError(
      `${path}: must contain valid JSON (${(error as SyntaxError).message}). See docs/reference/cargo-format.md`,
      { cause: error },
    );
  }
}
