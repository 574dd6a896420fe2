import { readPublicKey } from "../../shared/cargo-signature.ts";
import type { SharedSecrets } from "../store/secrets/shared-secrets.ts";

/**
 * The public key (base64) of the coordinator that started last: `signing-key rotate` replaces the signing key, but a running coordinator
 * keeps its own. Null if no key was used yet, or what is stored is damaged.
 */
export async function readKeyInUse(secrets: Pick<SharedSecrets, "read">): Promise<string | null> {
  const text = (await secrets.read("signing_in_use"))?.toString("utf8").trim();
  return text === undefined || readPublicKey(text) === undefined ? null : text;
}

/** It only informs people. */
export async function storeKeyInUse(
  secrets: Pick<SharedSecrets, "read" | "replace">,
  publicKey: string,
): Promise<void> {
  if ((await readKeyInUse(secrets)) === publicKey) return;
  await secrets.replace("signing_in_use", Buffer.from(`${publicKey}\n`));
}
