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
  /** Fingerprint of the coordinator's key, from its operator. Unset: the key that the address shows now is trusted and pinned. */
  readonly fingerprint?: string | undefined;
  /** Whether the user joins a different coordinator, whose key replaces the pinned one. */
  readonly isNewCoordinator?: boolean;
}

/**
 * `island join`: stores the coordinator's address and key, the token and the account, after the coordinator has accepted the
 * token. The token is sent only to a coordinator with the right key. Returns the key's fingerprint.
 * @throws {CliError} when the address, the token or the key is wrong; nothing is stored then.
 */
export async function joinNetwork(options: JoinOptions): Promise<string> {
  const { url, token, dataDirectory } = options;
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw new CliError(`"${url}" is not an http or https address`);
  }
  if (!isIslandToken(token)) {
    throw new CliError("This is not an Island token: they begin with it_ and have 43 characters");
  }
  const shown = await readCoordinatorKey(url);
  if (!shown.ok) throw new CliError(`Not joined: ${shown.reason}`);
  const { publicKey } = shown;
  await assertRightKey(options, publicKey);
  const checked = await checkToken(url, token);
  if (!checked.ok) throw new CliError(`Not joined: ${checked.reason}`);
  if (checked.publicKey !== publicKey) {
    throw new CliError("Not joined: the coordinator changed its key meanwhile. Try again");
  }
  await storeKeys(dataDirectory, {
    "coordinator.public_key": publicKey,
    "coordinator.api_url": url,
    "coordinator.token": token,
    "coordinator.account": checked.accountId,
  });
  return fingerprintOf(publicKey);
}

/** A warning for an address to which the token would travel unencrypted; null when it is encrypted or stays on this machine. */
export function plainHttpWarning(url: string): string | null {
  const { protocol, hostname } = URL.parse(url) ?? {};
  if (protocol !== "http:" || hostname === undefined) return null;
  if (/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)) return null;
  return `Warning: ${url} is not encrypted: others on the network can read the token and change what this Island receives`;
}

/**
 * The key must have the fingerprint that the user gives, or else be the pinned one. The address does not matter, because a
 * coordinator may have several. Without fingerprint and pinned key, any key is accepted.
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
  throw new CliError(`Not joined: ${change}. If it is a different coordinator, join with --new-coordinator`);
}
