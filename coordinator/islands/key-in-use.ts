import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readPublicKey } from "../../shared/cargo-signature.ts";

/** The public key (base64) that the coordinator was last started with: `rotate` puts another in `signing.key` while it runs. */
const FILE_NAME = "signing.pub";

/** Null: none was used yet, or the file does not tell. */
export async function readKeyInUse(dataDirectory: string): Promise<string | null> {
  try {
    const text = (await readFile(join(dataDirectory, FILE_NAME), "utf8")).trim();
    return readPublicKey(text) === undefined ? null : text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Only told to people; a file cut short by a crash is written again at the next start. */
export async function storeKeyInUse(dataDirectory: string, publicKey: string): Promise<void> {
  if ((await readKeyInUse(dataDirectory)) === publicKey) return;
  await writeFile(join(dataDirectory, FILE_NAME), `${publicKey}\n`);
}
