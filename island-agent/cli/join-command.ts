import { isLoopback } from "../../shared/net/loopback.ts";
import { fingerprintOf } from "../../shared/cargo-signature.ts";
import { readTomlKeys } from "../../shared/settings.ts";
import { readConfigFile, storeKeys } from "../config/config-file.ts";
import { resolveAgentConfig } from "../config/resolve-agent-config.ts";
import { forgetLastEnd } from "../control/last-end.ts";
import { describeKeyChange } from "../session/cargo-trust.ts";
import { checkToken, readCoordinatorKey } from "../session/check-token.ts";
import { coordinatorAddress } from "../config/coordinator-address.ts";
import { isIslandToken } from "../config/agent-settings.ts";
import { CliError } from "../../shared/errors.ts";
import { Readable } from "node:stream";
import { z } from "zod";
import { parseJson, readBody } from "../models/download/json-body.ts";

const MAX_RESPONSE_WAIT_MS = 10_000;
const MAX_RESPONSE_BYTES = 10_000;
const CREATED = 201;
const tokenResponseSchema = z.object({ data: z.object({ token: z.string().refine(isIslandToken) }) });
/** Messages by HTTP status. The coordinator's text is not shown, because it is not trusted on the owner's terminal. */
const REASONS: Readonly<Record<number, string>> = {
  404: "the pairing code is wrong, used or older than ten minutes. Create a new one",
  422: "the account of the pairing code has too many Island tokens. Revoke one",
  429: "too many attempts with pairing codes. Try again in a minute, or join with --token",
};

/** Length of a pairing code without its hyphen. */
const CODE_CHARACTERS = 8;

/** A host name with a dot or a port, an IP address or localhost, optionally with a path. */
const LIKE_A_HOST =
  /^(?:localhost|[a-z0-9-]+(?:\.[a-z0-9-]+)+|[a-z0-9-]+(?=:\d)|\[[\da-f:]+\])(?::\d+)?(?:\/[^\s,]*)?$/i;

export type JoinCredential = { readonly token: string } | { readonly code: string };

interface JoinOptions {
  /** Addresses of coordinators of one network, at least one. */
  readonly urls: readonly string[];
  /** An Island token, or a pairing code that the coordinator exchanges for one. */
  readonly credential: JoinCredential;
  readonly dataDirectory: string;
  /** Fingerprint of the coordinator's key, from its operator. If unset, the current key is trusted and pinned. */
  readonly fingerprint?: string | undefined;
  /** Whether the key of a different coordinator may replace the pinned one. */
  readonly isNewCoordinator?: boolean;
}

/**
 * Runs `island join`: stores the coordinator's address and key, the token and the account, after the coordinator has
 * accepted the token. Token and code are sent only to a coordinator with the right key. All addresses must accept them.
 * Returns the key's fingerprint.
 * @throws {CliError} when an address, the token, the code or the key is wrong; nothing is stored then.
 */
export async function joinNetwork(given: JoinOptions): Promise<string> {
  const options = { ...given, urls: given.urls.map(readJoinAddress) };
  const { urls, credential, dataDirectory } = options;
  if ("token" in credential && !isIslandToken(credential.token)) {
    throw new CliError(
      "Invalid Island token: must be it_ and 40 letters and digits. Copy it again, or create a new one",
    );
  }
  // Text that the user typed by mistake, such as a password, must not be sent.
  if ("code" in credential && credential.code.replaceAll(/[\s-]/g, "").length !== CODE_CHARACTERS) {
    throw new CliError("Invalid input: must be a pairing code (ABCD-EFGH) or an Island token (it_…)");
  }
  const [first] = urls;
  if (first === undefined) throw new CliError("The URL of a coordinator is missing");
  // Read all keys before the token leaves this machine, and before a code is used up.
  const publicKey = await readCommonKey(options);
  const token = "token" in credential ? credential.token : await redeemCode(first, credential.code);
  let accountId: string | null = null;
  for (const url of urls) accountId = await tryToken(url, token, publicKey, options);
  await storeKeys(dataDirectory, {
    "coordinator.public_key": publicKey,
    "coordinator.api_url": urls.join(","),
    "coordinator.token": token,
    "coordinator.account": accountId,
  });
  // `status` would still show a reason, such as a changed key, that this join may have fixed.
  await forgetLastEnd(dataDirectory);
  return fingerprintOf(publicKey);
}

/**
 * Returns the token of an earlier join, for an Island whose coordinator has a new key. Null unless all addresses are
 * those of that join, because no other coordinator may receive it.
 */
export async function storedToken(dataDirectory: string, urls: readonly string[]): Promise<string | null> {
  const { coordinator } = resolveAgentConfig({ flags: {}, env: {}, file: await readConfigFile(dataDirectory) });
  return urls.every((url) => coordinator.apiUrls?.includes(url) === true) ? coordinator.token : null;
}

/** Normalizes the coordinator's URL from the user. @throws {CliError} if it is invalid. */
export function readJoinAddress(given: string): string {
  const url = coordinatorAddress(given);
  const parsed = URL.parse(url);
  // A comma separates addresses in the settings.
  if (parsed === null || !/^https?:\/\/[^,]+$/i.test(url)) {
    const hint = LIKE_A_HOST.test(url) ? `. Did you mean ${schemeOf(url)}://${url}?` : "";
    throw new CliError(`URL of the coordinator: must begin with http:// or https://, got "${given}"${hint}`);
  }
  if (parsed.username !== "" || parsed.password !== "") {
    throw new CliError(
      "URL of the coordinator: must not contain a user name and password. Remove the part before the @",
    );
  }
  return url;
}

/** Returns the likely scheme of an address without one. */
function schemeOf(address: string): "http" | "https" {
  return /^(?:localhost\b|\d+(?:\.\d+){3}\b|\[)/i.test(address) ? "http" : "https";
}

/** Returns the key that all addresses show. @throws {CliError} */
async function readCommonKey(options: JoinOptions): Promise<string> {
  let common: string | null = null;
  for (const url of options.urls) {
    const shown = await readCoordinatorKey(url);
    if (!shown.ok) throw refusal(url, `${shown.reason}${hintOf(url)}`, options);
    await assertRightKey(options, shown.publicKey);
    common ??= shown.publicKey;
    if (shown.publicKey !== common) {
      throw refusal(
        url,
        "this coordinator has a different key, so it belongs to another network. Give only URLs of one network",
        options,
      );
    }
  }
  return common ?? "";
}

/** Returns the token's account, if the coordinator reports it. @throws {CliError} */
async function tryToken(url: string, token: string, publicKey: string, options: JoinOptions): Promise<string | null> {
  const checked = await checkToken(url, token);
  if (!checked.ok) throw refusal(url, checked.reason, options);
  if (checked.publicKey !== publicKey) {
    throw refusal(url, "the coordinator changed its key during the join. Try again", options);
  }
  return checked.accountId;
}

/** Returns a hint for an address with a path, which may be the URL of a web page. */
function hintOf(url: string): string {
  const { pathname, origin } = new URL(url);
  return pathname === "/" ? "" : ` (try it without the path: ${origin})`;
}

function refusal(url: string, reason: string, { urls }: JoinOptions): CliError {
  return new CliError(`Not joined: ${urls.length > 1 ? `${url}: ` : ""}${reason}`);
}

/** Returns a warning if the token would travel unencrypted to another machine; otherwise null. */
export function plainHttpWarning(url: string): string | null {
  const { protocol, hostname } = URL.parse(url) ?? {};
  if (protocol !== "http:" || hostname === undefined) return null;
  if (isLoopback(hostname)) return null;
  return `Warning: ${url} is not encrypted. Others on the network can read the token or code, and change the data that this Island receives. Use https`;
}

/**
 * Checks the key against the fingerprint from the user, otherwise against the pinned key. If there is neither, any key
 * is accepted. The address is not compared: a coordinator may have several.
 */
async function assertRightKey(options: JoinOptions, publicKey: string): Promise<void> {
  const { dataDirectory, fingerprint, isNewCoordinator = false } = options;
  if (fingerprint !== undefined) {
    const shown = fingerprintOf(publicKey);
    if (fingerprint === shown) return;
    throw new CliError(
      `Not joined: the fingerprint of the coordinator's key must be ${fingerprint}, got ${shown}. Check the URL, and ask the operator for the fingerprint`,
    );
  }
  if (isNewCoordinator) return;
  const file = await readConfigFile(dataDirectory);
  const pinned = file === null ? undefined : readTomlKeys(file).get("coordinator.public_key");
  if (typeof pinned !== "string" || pinned === publicKey) return;
  const change = describeKeyChange(pinned, publicKey);
  throw new CliError(`Not joined: ${change}. To join a different coordinator, add --new-coordinator`);
}

/** Exchanges a pairing code for an Island token, which the coordinator shows only once. @throws {CliError} */
async function redeemCode(coordinatorUrl: string, code: string): Promise<string> {
  let response: Response;
  try {
    response = await fetch(`${coordinatorUrl.replace(/\/+$/, "")}/api/v1/island/pair`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code }),
      // The code is sent only to the address that showed the right key.
      redirect: "error",
      signal: AbortSignal.timeout(MAX_RESPONSE_WAIT_MS),
    });
  } catch (cause) {
    throw new CliError(
      `Not joined: no response from ${coordinatorUrl}. Try again; if the code is rejected, create a new one`,
      { cause },
    );
  }
  if (response.status !== CREATED || response.body === null) {
    await response.body?.cancel();
    throw new CliError(
      `Not joined: ${REASONS[response.status] ?? `the coordinator responded with status ${response.status}`}`,
    );
  }
  const text = await readBody(Readable.fromWeb(response.body), MAX_RESPONSE_BYTES, "the coordinator's response");
  const parsed = tokenResponseSchema.safeParse(parseJson(text));
  if (!parsed.success)
    throw new CliError(
      "Not joined: the coordinator's response has no Island token. Check that the URL is that of an Atoll coordinator",
    );
  return parsed.data.data.token;
}
