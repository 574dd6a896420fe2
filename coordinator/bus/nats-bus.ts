import {
  connect,
  errors,
  type Msg,
  type NatsConnection,
  type NodeConnectionOptions,
  type Status,
  type Subscription,
} from "@nats-io/transport-node";
import { Packr } from "msgpackr";
import type { Clock, Timer } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import { ConfigError } from "../../shared/settings.ts";
import { BusError, type Bus, type Unsubscribe } from "./bus.ts";

/** Prefix of all subjects. The number is the version of the message format. */
const PREFIX = "atoll.2.";
/** Prefix of subjects that use a separate connection: a stalled subscriber may block it. */
const BULK_PREFIX = "stream.";
const packr = new Packr({ useRecords: false });

const CONNECT_TIMEOUT_MS = 5_000;
/** Time limit for sending pending messages before a close; the rest is dropped. */
const MAX_DRAIN_MS = 2_000;

const RECONNECT_MS = 250;
/** Delay between attempts to open the first connection. An open connection reconnects on its own. */
const RETRY_MS = 1_000;
/** Ping interval. A connection counts as lost after two pings without a reply. */
const PING_MS = 2_000;

/** Required limit for the size of a message; the default of NATS. Slices of feeds take about 600 KB. */
const NEEDED_PAYLOAD_BYTES = 1_048_576;

const CERTIFICATE = /^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA$|ERR_TLS_CERT_)/;
/** Error codes of OpenSSL for a client certificate and key that cannot be used. */
const OWN_CERTIFICATE = /^ERR_OSSL_/;

type Reply = readonly [isOk: true, value: unknown] | readonly [isOk: false, message: string];

const DOWN = "The bus is down: other coordinators cannot be reached";

/**
 * Opens a bus on NATS servers. Uses only core NATS, because state that must survive is in storage. While no server can
 * be reached, the bus is down and retries. @throws {ConfigError} if a server rejects the credentials or settings
 */
export async function openNatsBus(
  options: NatsOptions,
  name: string,
  { clock, log }: { readonly clock: Clock; readonly log: Pick<Logger, "warn" | "info"> },
): Promise<Bus> {
  const listeners = new Set<(downReason: string | null) => void>();
  let isClosing = false;
  let noteChange = (): void => undefined;
  const open = (part: string): Promise<NatsLink> =>
    openNatsLink(options, `${name} ${part}`, { clock, log }, () => noteChange());
  const control = await open("control");
  const bulk = await open("bulk").catch(async (error: unknown) => {
    await control.close();
    throw error;
  });
  const downReason = (): string | null => control.downReason ?? bulk.downReason;
  let wasDown = downReason() !== null;
  if (wasDown) log.warn({ reason: downReason() }, DOWN);
  noteChange = () => {
    const reason = downReason();
    if (isClosing || wasDown === (reason !== null)) return;
    wasDown = reason !== null;
    if (reason === null) log.info({}, "The bus is connected again");
    else log.warn({ reason }, DOWN);
    for (const listener of listeners) listener(reason);
  };

  function linkFor(subject: string): NatsLink {
    return subject.startsWith(BULK_PREFIX) ? bulk : control;
  }

  /** Runs a task and logs its errors. A thrown error would end the client's read loop permanently. */
  function runGuarded(subject: string, task: () => void): void {
    try {
      task();
    } catch (error) {
      log.warn({ err: error, subject }, "A bus message failed");
    }
  }

  // Uses a callback, because an iterator would buffer unread messages without bound.
  function listen(link: NatsLink, subject: string, receive: (message: Msg) => void): Unsubscribe {
    return link.subscribe(PREFIX + subject, (error, message) => {
      if (error === null) receive(message);
      else log.warn({ err: error, subject }, "Bus subscription failed");
    });
  }

  async function respondTo(message: Msg, handler: (message: unknown) => Promise<unknown>): Promise<void> {
    const respond = (reply: Reply): void => {
      if (!isClosing) message.respond(packr.pack(reply));
    };
    try {
      respond([true, await handler(packr.unpack(message.data))]);
    } catch (error) {
      // The handler threw an error, or its reply is too large for a message.
      runGuarded(message.subject, () => respond([false, error instanceof Error ? error.message : String(error)]));
    }
  }

  return {
    get downReason(): string | null {
      return downReason();
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    publish(subject, message) {
      // While the server is away, the client would buffer the message without bound.
      if (downReason() !== null || isClosing) return;
      runGuarded(subject, () => linkFor(subject).connection?.publish(PREFIX + subject, packr.pack(message)));
    },
    subscribe: (subject, listener) =>
      listen(linkFor(subject), subject, ({ data }) => runGuarded(subject, () => listener(packr.unpack(data)))),
    async request(subject, message, timeoutMs) {
      const { connection } = control;
      const reason = downReason();
      if (reason !== null || connection === null) throw new BusError("unreachable", `The bus is down: ${reason}`);
      let reply: Msg;
      try {
        reply = await connection.request(PREFIX + subject, packr.pack(message), { timeout: timeoutMs });
      } catch (cause) {
        if (cause instanceof errors.InvalidArgumentError) {
          throw new BusError("refused", `Cannot send request ${subject}: ${cause.message}`, { cause });
        }
        const hasNoResponder = cause instanceof errors.NoRespondersError || cause instanceof errors.RequestError;
        const kind = hasNoResponder || isClosing ? "unreachable" : "timeout";
        throw new BusError(kind, `No reply to ${subject}: ${String(cause)}`, { cause });
      }
      const [isOk, value] = packr.unpack(reply.data) as Reply;
      if (isOk) return value;
      throw new BusError("refused", value);
    },
    handle: (subject, handler) => listen(control, subject, (message) => void respondTo(message, handler)),
    async close() {
      isClosing = true;
      await Promise.all([control.close(), bulk.close()]);
    },
  };
}

/** Options of `connect` that the operator's settings provide: servers, credentials, TLS. */
export type NatsOptions = Pick<NodeConnectionOptions, "servers" | "user" | "pass" | "token" | "tls" | "authenticator">;

type Callback = (error: Error | null, message: Msg) => void;

/** A subscription, which each new connection opens again. */
interface Held {
  readonly subject: string;
  readonly callback: Callback;
  live: Subscription | null;
}

type NatsLink = Awaited<ReturnType<typeof openNatsLink>>;

/**
 * Opens a connection to the servers. If none responds, it keeps retrying. `onChange` is called after `downReason` has
 * changed.
 * @throws {ConfigError} if a server rejects the credentials or settings
 */
async function openNatsLink(
  options: NatsOptions,
  name: string,
  { clock, log }: { readonly clock: Clock; readonly log: Pick<Logger, "warn"> },
  onChange: () => void,
) {
  const subscriptions = new Set<Held>();
  let current: NatsConnection | null = null;
  let downReason: string | null = "not connected yet";
  let retry: Timer | null = null;
  let isClosing = false;

  async function drain(connection: NatsConnection): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const limit = clock.schedule(MAX_DRAIN_MS, () => resolve(new Error("The server does not respond")));
    connection.drain().then(() => resolve(null), resolve);
    const fault = await promise;
    limit.cancel();
    if (fault !== null) log.warn({ err: fault }, "The last messages on the bus may have been lost");
  }

  /** Tries to connect once. Resolves with the error, or with null if the connection is open. */
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
      const maxPayloadBytes = connection.info?.max_payload ?? NEEDED_PAYLOAD_BYTES;
      if (maxPayloadBytes < NEEDED_PAYLOAD_BYTES) {
        await connection.close();
        throw new SmallPayloadError(maxPayloadBytes);
      }
    } catch (error) {
      setDown(describeFault(error, options.tls !== undefined));
      return error;
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

  function retryLater(): void {
    if (isClosing) return;
    retry = clock.schedule(RETRY_MS, () => {
      void connectOnce().then((fault) => {
        if (fault !== null) retryLater();
      });
    });
  }

  async function watch(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) noteStatus(status);
    // The client stops reconnecting when the servers reject it.
    const fault = await connection.closed();
    if (isClosing) return;
    setDown(fault?.message ?? "the connection was closed");
    retryLater();
  }

  function noteStatus(status: Status): void {
    if (status.type === "disconnect") setDown(`no connection to ${status.server}`);
    else if (status.type === "reconnect") setDown(null);
    else if (status.type === "slowConsumer") log.warn({}, "Bus subscriber is slow");
  }

  function setDown(reason: string | null): void {
    if (reason === downReason) return;
    downReason = reason;
    if (!isClosing) onChange();
  }

  const fault = await connectOnce();
  const settingFault = settingFaultOf(fault);
  if (settingFault !== null) throw new ConfigError([`bus: ${settingFault}`], { cause: fault });
  if (fault !== null) retryLater();
  return {
    get downReason(): string | null {
      return downReason;
    },
    get connection(): NatsConnection | null {
      return current;
    },
    subscribe(subject: string, callback: Callback): Unsubscribe {
      const held: Held = { subject, callback, live: current?.subscribe(subject, { callback }) ?? null };
      subscriptions.add(held);
      return () => {
        subscriptions.delete(held);
        // A draining connection ends all its subscriptions; unsubscribing then would throw.
        if (held.live?.isClosed() === false && !isClosing) held.live.unsubscribe();
      };
    },
    async close(): Promise<void> {
      isClosing = true;
      retry?.cancel();
      if (current === null) return;
      // Draining waits for the server, which may be away or stalled.
      if (downReason === null) await drain(current);
      await current.close().catch(() => undefined);
    },
  };
}

class SmallPayloadError extends Error {
  override readonly name = "SmallPayloadError";
  constructor(maxPayloadBytes: number) {
    const needed = NEEDED_PAYLOAD_BYTES;
    super(`NATS limits messages to ${maxPayloadBytes} bytes. Set max_payload on its servers to ${needed} or more`);
  }
}

/** Returns the message for a fault that the operator must fix; null for a temporary fault. */
function settingFaultOf(error: unknown): string | null {
  if (error instanceof SmallPayloadError) return error.message;
  if (error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError) {
    return `NATS rejected this coordinator (${error.message}). Check the user and password, token, credentials, nkey or client certificate`;
  }
  if (!(error instanceof Error)) return null;
  const code = codeOf(error) ?? codeOf(error.cause) ?? "";
  if (CERTIFICATE.test(code)) {
    return `The certificate of the NATS server is not trusted (${error.message}). Check nats_ca_file, and that the certificate has the host name in bus`;
  }
  if (OWN_CERTIFICATE.test(code)) return `${error.message}. Check nats_cert_file, nats_key_file and nats_ca_file`;
  // The NATS client sets no code on this error.
  const isTlsMissing = error instanceof errors.ConnectionError && error.message.startsWith("server does not support");
  return isTlsMissing
    ? "The NATS server does not support TLS, which tls:// in bus, nats_ca_file or nats_cert_file require"
    : null;
}

/** Returns why the connection failed, for logs and /health. */
function describeFault(error: unknown, isTls: boolean): string {
  const fault = settingFaultOf(error);
  if (fault !== null) return fault;
  // A server that rejects the client certificate closes the connection, which the client reports as a timeout.
  if (isTls && error instanceof errors.TimeoutError)
    return "timeout; the server may require another client certificate";
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
