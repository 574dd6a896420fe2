import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readPublicKey } from "../../shared/cargo-signature.ts";

/** The public key (base64) of the running coordinator: `signing-key rotate` replaces `signing.key`, but a running coordinator keeps its key. */
const FILE_NAME = "signing.pub";

/** Null if no key was used yet, or the file is damaged. */
export async function readKeyInUse(dataDirectory: string): Promise<string | null> {
  try {
    const text = (await readFile(join(dataDirectory, FILE_NAME), "utf8")).trim();
    return readPublicKey(text) === undefined ? null : text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** The file only informs people. If a crash cuts it short, the next start writes it again. */
export async function storeKeyInUse(dataDirectory: string, publicKey: string): Promise<void> {
  if ((await readKeyInUse(dataDirectory)) === publicKey) return;
  await writeFile(join(dataDirectory, FILE_NAME), `${publicKey}\n`);
}
