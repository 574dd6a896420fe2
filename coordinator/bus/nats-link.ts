import {
  connect,
  errors,
  type Msg,
  type NatsConnection,
  type NodeConnectionOptions,
  type Status,
  type Subscription,
} from "@nats-io/transport-node";
import type { Clock, Timer } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import { ConfigError } from "../../shared/settings.ts";
import type { Unsubscribe } from "./bus.ts";

const CONNECT_TIMEOUT_MS = 5_000;
/** What was published leaves within this time, or not at all. */
const MAX_DRAIN_MS = 2_000;

const RECONNECT_MS = 250;
/** Between tries where there is no connection that tries by itself. */
const RETRY_MS = 1_000;
/** A connection is lost after two of these without an answer. */
const PING_MS = 2_000;

/** A message of this size may be sent. It is what NATS takes by default; the largest ones, slices of feeds, are some 600 KB. */
const NEEDED_PAYLOAD_BYTES = 1_048_576;

/** Codes of Node.js and OpenSSL for a certificate that is not valid here, and for a key that does not fit its certificate. */
const CERTIFICATE = /^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA$|ERR_TLS_CERT_)/;
const OWN_CERTIFICATE = /^ERR_OSSL_/;

/** The options of `connect` that an operator's settings may give: servers, credentials, TLS. */
export type NatsOptions = Pick<NodeConnectionOptions, "servers" | "user" | "pass" | "token" | "tls" | "authenticator">;

type Callback = (error: Error | null, message: Msg) => void;

interface Held {
  readonly subject: string;
  readonly callback: Callback;
  live: Subscription | null;
}

export type NatsLink = Awaited<ReturnType<typeof openNatsLink>>;

/**
 * A connection to the servers, which may not be there yet. Subscriptions are made whenever it comes. It tries once; if no server answers,
 * it goes on trying. `onChange` is called when `downBecause` has changed.
 * @throws {ConfigError} when the servers do not let us in.
 */
export async function openNatsLink(
  options: NatsOptions,
  name: string,
  { clock, log }: { readonly clock: Clock; readonly log: Pick<Logger, "warn"> },
  onChange: () => void,
) {
  const subscriptions = new Set<Held>();
  let current: NatsConnection | null = null;
  let downBecause: string | null = "not connected yet";
  let retry: Timer | null = null;
  let isClosing = false;

  async function drain(connection: NatsConnection): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const limit = clock.schedule(MAX_DRAIN_MS, () => resolve(new Error("The server does not answer")));
    connection.drain().then(() => resolve(null), resolve);
    const fault = await promise;
    limit.cancel();
    if (fault !== null) log.warn({ err: fault }, "The last messages on the bus may be lost");
  }

  /** Resolves with why there is no connection, and null if there is one now. */
  async function connectOnce(): Promise<unknown> {
    let connection: NatsConnection;
    try {
      connection = await connect({
        ...options,
        name,
        timeout: CONNECT_TIMEOUT_MS,
        maxReconnectAttempts: -1,
        reconnectTimeWait: RECONNECT_MS,
        pingInterval: PING_MS,
      });
    } catch (error) {
      setDown(describeFault(error, options.tls !== undefined));
      return error;
    }
    const maxPayloadBytes = connection.info?.max_payload ?? NEEDED_PAYLOAD_BYTES;
    if (maxPayloadBytes < NEEDED_PAYLOAD_BYTES) {
      await connection.close();
      const fault = new SmallPayloadError(maxPayloadBytes);
      setDown(fault.message);
      return fault;
    }
    if (isClosing) {
      await connection.close();
      return null;
    }
    current = connection;
    for (const held of subscriptions) held.live = connection.subscribe(held.subject, { callback: held.callback });
    void watch(connection);
    setDown(null);
    return null;
  }

  function tryLater(): void {
    if (isClosing) return;
    retry = clock.schedule(RETRY_MS, () => {
      void connectOnce().then((fault) => {
        if (fault !== null) tryLater();
      });
    });
  }

  async function watch(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) noteStatus(status);
    // It has given up: the servers let it in no more.
    const fault = await connection.closed();
    if (isClosing) return;
    setDown(fault?.message ?? "the connection was closed");
    tryLater();
  }

  function noteStatus(status: Status): void {
    if (status.type === "disconnect") setDown(`no connection to ${status.server}`);
    else if (status.type === "reconnect") setDown(null);
    else if (status.type === "slowConsumer") log.warn({}, "A subscriber of the bus is slow");
  }

  function setDown(because: string | null): void {
    if (because === downBecause) return;
    downBecause = because;
    if (!isClosing) onChange();
  }

  const fault = await connectOnce();
  const settingFault = settingFaultOf(fault);
  if (settingFault !== null) throw new ConfigError([`bus: ${settingFault}`], { cause: fault });
  if (fault !== null) tryLater();
  return {
    get downBecause(): string | null {
      return downBecause;
    },
    /** Null until the first connection. */
    get connection(): NatsConnection | null {
      return current;
    },
    subscribe(subject: string, callback: Callback): Unsubscribe {
      const held: Held = { subject, callback, live: current?.subscribe(subject, { callback }) ?? null };
      subscriptions.add(held);
      return () => {
        subscriptions.delete(held);
        // A connection that drains ends them all, and throws.
        if (held.live?.isClosed() === false && !isClosing) held.live.unsubscribe();
      };
    },
    /** Never rejects. */
    async close(): Promise<void> {
      isClosing = true;
      retry?.cancel();
      if (current === null) return;
      // Draining waits for the server, which may be away or stand still.
      if (downBecause === null) await drain(current);
      await current.close().catch(() => undefined);
    },
  };
}

/** The server takes no messages of the size that coordinators send. */
class SmallPayloadError extends Error {
  override readonly name = "SmallPayloadError";
  constructor(maxPayloadBytes: number) {
    const needed = NEEDED_PAYLOAD_BYTES;
    super(
      `NATS takes messages of at most ${maxPayloadBytes} bytes: set max_payload of its servers to ${needed} or more`,
    );
  }
}

/** Why the servers do not let us in, if a person must mend that; null for a fault that may pass by itself. */
function settingFaultOf(error: unknown): string | null {
  if (error instanceof SmallPayloadError) return error.message;
  if (error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError) {
    return `NATS does not let this coordinator in (${error.message}): check the user and password, token, credentials, nkey or client certificate`;
  }
  if (!(error instanceof Error)) return null;
  const code = codeOf(error) ?? codeOf(error.cause) ?? "";
  if (CERTIFICATE.test(code)) {
    return `The certificate of the NATS server is not valid here (${error.message}): check nats_ca_file, and that the certificate has the host name in bus`;
  }
  if (OWN_CERTIFICATE.test(code)) return `${error.message}: check nats_cert_file and nats_key_file, and nats_ca_file`;
  // The client gives this one no code.
  const isPlain = error instanceof errors.ConnectionError && error.message.startsWith("server does not support");
  return isPlain ? "The NATS server has no TLS, which tls:// in bus, nats_ca_file or nats_cert_file ask for" : null;
}

/** Why there is no connection, for logs and /health. */
function describeFault(error: unknown, isTls: boolean): string {
  const fault = settingFaultOf(error);
  if (fault !== null) return fault;
  // A server that does not accept our certificate ends the connection after the handshake, which the client does not hear.
  if (isTls && error instanceof errors.TimeoutError)
    return "timeout; does the server ask for another client certificate?";
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
