import { fingerprintOf } from "../../shared/cargo-signature.ts";
import { readTomlKeys } from "../../shared/settings.ts";
import { readConfigFile, storeKeys } from "../config/config-file.ts";
import { describeKeyChange } from "../session/cargo-trust.ts";
import { checkToken, readCoordinatorKey } from "../session/check-token.ts";
import { isIslandToken } from "../config/agent-settings.ts";
import { CliError } from "../../shared/errors.ts";

export interface JoinOptions {
  readonly url: string;
  readonly token: string;
  readonly dataDirectory: string;
  /** Of the coordinator's key, as its operator told it; unset: the key that the address shows is believed, this once. */
  readonly fingerprint?: string | undefined;
  /** The user says that this is not the coordinator whose key is pinned: its key takes the place of that one. */
  readonly isNewCoordinator?: boolean;
}

/**
 * Stores coordinator, token, account and the coordinator's key after it has accepted the token, which it is shown only when its
 * key is the right one. Returns the key's fingerprint.
 * @throws {CliError} when the address, the token or the key is not right; nothing is stored then.
 */
export async function joinNetwork(options: JoinOptions): Promise<string> {
  const { url, token, dataDirectory } = options;
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw new CliError(`"${url}" is not an http or https address`);
  }
  if (!isIslandToken(token)) {
    throw new CliError("The token is not an Island token: those begin with it_ and have 43 characters");
  }
  const shown = await readCoordinatorKey(url);
  if (!shown.ok) throw new CliError(`Not joined: ${shown.reason}`);
  const { publicKey } = shown;
  await assertRightKey(options, publicKey);
  const checked = await checkToken(url, token);
  if (!checked.ok) throw new CliError(`Not joined: ${checked.reason}`);
  if (checked.publicKey !== publicKey) {
    throw new CliError("Not joined: the coordinator showed one key, then another; join again");
  }
  await storeKeys(dataDirectory, {
    "coordinator.public_key": publicKey,
    "coordinator.api_url": url,
    "coordinator.token": token,
    "coordinator.account": checked.accountId,
  });
  return fingerprintOf(publicKey);
}

/** What to tell the user of an address to which the token would travel unencrypted; null where it would not leave the machine. */
export function plainHttpWarning(url: string): string | null {
  const { protocol, hostname } = URL.parse(url) ?? {};
  if (protocol !== "http:" || hostname === undefined) return null;
  if (/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)) return null;
  return `Warning: ${url} is not encrypted: whoever is on the way can read the token and change what this Island is told`;
}

/**
 * The key must be the one that the user names, or else the pinned one, whatever the address: the same coordinator may be
 * joined by another name. Without either, any is right.
 */
async function assertRightKey(options: JoinOptions, publicKey: string): Promise<void> {
  const { dataDirectory, fingerprint, isNewCoordinator = false } = options;
  if (fingerprint !== undefined) {
    const shown = fingerprintOf(publicKey);
    if (fingerprint === shown) return;
    throw new CliError(`Not joined: the coordinator's key has the fingerprint ${shown}, not ${fingerprint}`);
  }
  if (isNewCoordinator) return;
  const file = await readConfigFile(dataDirectory);
  const pinned = file === null ? undefined : readTomlKeys(file).get("coordinator.public_key");
  if (typeof pinned !== "string" || pinned === publicKey) return;
  const change = describeKeyChange(pinned, publicKey);
  throw new CliError(`Not joined: ${change}; or with --new-coordinator, if it is another one`);
}
