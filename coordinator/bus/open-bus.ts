import { readFile } from "node:fs/promises";
import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import { ConfigError } from "../../shared/settings.ts";
import type { Bus } from "./bus.ts";
import { LocalBus } from "./local-bus.ts";
import type { NatsOptions } from "./nats-bus.ts";

/** NATS servers and the credentials for them. */
export interface BusConnection {
  /** `host:port` of each server. */
  readonly servers: readonly string[];
  readonly user: string | null;
  readonly password: string | null;
  readonly token: string | null;
  readonly credentialsFile: string | null;
  readonly nkeyFile: string | null;
  readonly caFile: string | null;
  /** Files with the client certificate and its key. */
  readonly certFile: string | null;
  readonly keyFile: string | null;
  readonly isTls: boolean;
}

/**
 * Opens the bus: NATS, or an in-process bus if `connection` is null. `name` names this client.
 * @throws {ConfigError} if a server rejects the credentials or settings. @throws system errors for unreadable files
 */
export async function openBus(
  connection: BusConnection | null,
  name: string,
  env: { readonly clock: Clock; readonly log: Pick<Logger, "warn" | "info"> },
): Promise<Bus> {
  if (connection === null) return new LocalBus();
  // A single coordinator does not load the NATS client.
  const { openNatsBus } = await import("./nats-bus.ts");
  const { servers, user, password, token } = connection;
  return openNatsBus(
    {
      servers: [...servers],
      ...(user === null ? {} : { user }),
      ...(password === null ? {} : { pass: password }),
      ...(token === null ? {} : { token }),
      ...(await authenticatorOf(connection)),
      ...(await tlsOf(connection)),
    },
    name,
    env,
  );
}

async function authenticatorOf({ credentialsFile, nkeyFile }: BusConnection) {
  const { credsAuthenticator, nkeyAuthenticator } = await import("@nats-io/transport-node");
  const file = credentialsFile ?? nkeyFile;
  if (file === null) return {};
  const text = (await readFile(file, "utf8")).trim();
  // The parser requires a newline after the last line of the credentials.
  const secret = new TextEncoder().encode(credentialsFile === null ? text : `${text}\n`);
  const authenticator = credentialsFile === null ? nkeyAuthenticator(secret) : credsAuthenticator(secret);
  try {
    // Sign a test nonce, so that a wrong kind of file is reported at start.
    authenticator("nonce");
  } catch (cause) {
    const kind = credentialsFile === null ? "an nkey seed" : "NATS credentials";
    throw new ConfigError([`${file}: does not contain ${kind}`], { cause });
  }
  return { authenticator };
}

/** Returns the TLS options. The files are read here, so that a missing file is reported with its path. */
async function tlsOf({ isTls, caFile, certFile, keyFile }: BusConnection): Promise<Pick<NatsOptions, "tls">> {
  if (!isTls && caFile === null && certFile === null) return {};
  const read = async (name: "ca" | "cert" | "key", path: string | null): Promise<object> =>
    path === null ? {} : { [name]: await readFile(path, "utf8") };
  return { tls: { ...(await read("ca", caFile)), ...(await read("cert", certFile)), ...(await read("key", keyFile)) } };
}
