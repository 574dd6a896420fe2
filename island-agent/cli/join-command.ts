import { fingerprintOf } from "../../shared/cargo-signature.ts";
import { readTomlKeys } from "../../shared/settings.ts";
import { readConfigFile, storeKey } from "../config/config-file.ts";
import { describeKeyChange } from "../session/cargo-trust.ts";
import { checkToken } from "../session/check-token.ts";
import { sessionUrl } from "../session/coordinator-link.ts";
import { isIslandToken } from "../session/island-token.ts";
import { CliError } from "./cli-error.ts";

export interface JoinOptions {
  readonly url: string;
  readonly token: string;
  readonly dataDirectory: string;
  /** Of the coordinator's key, as its operator told it; unset: the key that the address shows is believed, this once. */
  readonly fingerprint?: string | undefined;
}

/**
 * Stores coordinator, token and the coordinator's key after it has accepted the token. Returns the key's fingerprint.
 * @throws {CliError} when the address, the token or the key is not right; nothing is stored then.
 */
export async function joinNetwork({ url, token, dataDirectory, fingerprint }: JoinOptions): Promise<string> {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw new CliError(`"${url}" is not an http or https address`);
  }
  if (!isIslandToken(token)) {
    throw new CliError("The token is not an Island token: those begin with it_ and have 43 characters");
  }
  const checked = await checkToken(url, token);
  if (!checked.ok) throw new CliError(`Not joined: ${checked.reason}`);
  const { publicKey } = checked;
  const shown = fingerprintOf(publicKey);
  if (fingerprint === undefined) await assertNotChanged(dataDirectory, url, publicKey);
  else if (fingerprint !== shown) {
    throw new CliError(`Not joined: the coordinator's key has the fingerprint ${shown}, not ${fingerprint}`);
  }
  await storeKey(dataDirectory, "coordinator.public_key", publicKey);
  await storeKey(dataDirectory, "coordinator.api_url", url);
  await storeKey(dataDirectory, "coordinator.token", token);
  return shown;
}

/** A coordinator that was joined before is believed under another key only when the user says which. */
async function assertNotChanged(dataDirectory: string, url: string, publicKey: string): Promise<void> {
  const file = await readConfigFile(dataDirectory);
  const stored = file === null ? new Map<string, unknown>() : readTomlKeys(file);
  const pinned = stored.get("coordinator.public_key");
  const joined = stored.get("coordinator.api_url");
  if (typeof pinned !== "string" || pinned === publicKey) return;
  if (typeof joined !== "string" || !URL.canParse(joined) || sessionUrl(joined) !== sessionUrl(url)) return;
  throw new CliError(`Not joined: ${describeKeyChange(pinned, publicKey)}`);
}
