import { readFile } from "node:fs/promises";
import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import { ConfigError } from "../../shared/settings.ts";
import type { Bus } from "./bus.ts";
import { LocalBus } from "./local-bus.ts";
import type { NatsOptions } from "./nats-bus.ts";

/** NATS servers, and who we are there. */
export interface BusConnection {
  /** `host:port` of each. */
  readonly servers: readonly string[];
  readonly user: string | null;
  readonly password: string | null;
  readonly token: string | null;
  readonly credentialsFile: string | null;
  /** With the seed of an nkey. */
  readonly nkeyFile: string | null;
  readonly caFile: string | null;
  /** Our certificate and its key. */
  readonly certFile: string | null;
  readonly keyFile: string | null;
  /** Only connections with TLS. */
  readonly isTls: boolean;
}

/**
 * The bus of a network; null: of a coordinator that is alone. `name`: shown by the servers.
 * @throws {ConfigError} when the servers do not let us in. @throws a system error for a file that cannot be read.
 */
export async function openBus(
  place: BusConnection | null,
  name: string,
  env: { readonly clock: Clock; readonly log: Pick<Logger, "warn" | "info"> },
): Promise<Bus> {
  if (place === null) return new LocalBus();
  // Loaded here, because a coordinator that is alone needs none of it.
  const { openNatsBus } = await import("./nats-bus.ts");
  const { servers, user, password, token } = place;
  return openNatsBus(
    {
      servers: [...servers],
      ...(user === null ? {} : { user }),
      ...(password === null ? {} : { pass: password }),
      ...(token === null ? {} : { token }),
      ...(await authenticatorOf(place)),
      ...(await tlsOf(place)),
    },
    name,
    env,
  );
}

async function authenticatorOf({
  credentialsFile,
  nkeyFile,
}: BusConnection): Promise<Pick<NatsOptions, "authenticator">> {
  const { credsAuthenticator, nkeyAuthenticator } = await import("@nats-io/transport-node");
  const file = credentialsFile ?? nkeyFile;
  if (file === null) return {};
  const text = (await readFile(file, "utf8")).trim();
  // Credentials are only found when their last line has an end.
  const secret = new TextEncoder().encode(credentialsFile === null ? text : `${text}\n`);
  const authenticator = credentialsFile === null ? nkeyAuthenticator(secret) : credsAuthenticator(secret);
  try {
    // As for a server, so that a file of another kind is told at once.
    authenticator("nonce");
  } catch (cause) {
    const kind = credentialsFile === null ? "seed of an nkey" : "credentials of NATS";
    throw new ConfigError([`${file}: has no ${kind}`], { cause });
  }
  return { authenticator };
}

/** The files are read here, so that one that is missing is told as such. */
async function tlsOf({ isTls, caFile, certFile, keyFile }: BusConnection): Promise<Pick<NatsOptions, "tls">> {
  if (!isTls && caFile === null && certFile === null) return {};
  const read = async (name: "ca" | "cert" | "key", path: string | null): Promise<object> =>
    path === null ? {} : { [name]: await readFile(path, "utf8") };
  return { tls: { ...(await read("ca", caFile)), ...(await read("cert", certFile)), ...(await read("key", keyFile)) } };
}
