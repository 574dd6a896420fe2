import { fingerprintOf } from "../../shared/cargo-signature.ts";
import { readTomlKeys } from "../../shared/settings.ts";
import { readConfigFile, storeKeys } from "../config/config-file.ts";
import { describeKeyChange } from "../session/cargo-trust.ts";
import { checkToken, readCoordinatorKey } from "../session/check-token.ts";
import { coordinatorAddress } from "../config/coordinator-address.ts";
import { isIslandToken } from "../config/agent-settings.ts";
import { CliError } from "../../shared/errors.ts";

export interface JoinOptions {
  /** Addresses of coordinators of one network, at least one. */
  readonly urls: readonly string[];
  readonly token: string;
  readonly dataDirectory: string;
  /** Fingerprint of the coordinator's key, from its operator. Unset: the key that the address shows now is trusted and pinned. */
  readonly fingerprint?: string | undefined;
  /** Whether the user joins a different coordinator, whose key replaces the pinned one. */
  readonly isNewCoordinator?: boolean;
}

/**
 * `island join`: stores the coordinator's address and key, the token and the account, after the coordinator has accepted the
 * token. The token is sent only to a coordinator with the right key. Of several addresses all must do. Returns the key's fingerprint.
 * @throws {CliError} when an address, the token or the key is wrong; nothing is stored then.
 */
export async function joinNetwork(options: JoinOptions): Promise<string> {
  const { token, dataDirectory } = options;
  const urls = options.urls.map(coordinatorAddress);
  for (const url of urls) {
    // A comma separates addresses in the settings.
    if (!/^https?:\/\/[^,]+$/i.test(url) || !URL.canParse(url)) {
      throw new CliError(`"${url}" is not an http or https address`);
    }
  }
  if (!isIslandToken(token)) {
    throw new CliError("This is not an Island token: they begin with it_ and have 43 characters");
  }
  let joined: Joined | null = null;
  for (const url of urls) joined = await tryAddress(url, options, joined);
  if (joined === null) throw new CliError("No address of a coordinator is given");
  const { publicKey, accountId } = joined;
  await storeKeys(dataDirectory, {
    "coordinator.public_key": publicKey,
    "coordinator.api_url": urls.join(","),
    "coordinator.token": token,
    "coordinator.account": accountId,
  });
  return fingerprintOf(publicKey);
}

interface Joined {
  readonly publicKey: string;
  readonly accountId: string | null;
}

/** @param others what the addresses before this one have answered; null: it is the first. @throws {CliError} */
async function tryAddress(url: string, options: JoinOptions, others: Joined | null): Promise<Joined> {
  const refuse = (reason: string): CliError =>
    new CliError(`Not joined: ${options.urls.length > 1 ? `${url}: ` : ""}${reason}`);
  const shown = await readCoordinatorKey(url);
  if (!shown.ok) throw refuse(shown.reason);
  const { publicKey } = shown;
  await assertRightKey(options, publicKey);
  if (others !== null && publicKey !== others.publicKey) {
    throw refuse("it is a coordinator of another network, as its key is another one");
  }
  const checked = await checkToken(url, options.token);
  if (!checked.ok) throw refuse(checked.reason);
  if (checked.publicKey !== publicKey) throw refuse("the coordinator changed its key meanwhile. Try again");
  return { publicKey, accountId: checked.accountId };
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
