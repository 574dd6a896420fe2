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

/** What all subjects begin with; the number is the version of the messages. */
const PREFIX = "atoll.2.";
/** What begins so has a connection of its own: a subscriber that stands still stalls the connection that publishes to it. */
const BULK = "stream.";
const packr = new Packr({ useRecords: false });

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

/** A request's answer. */
type Answer = readonly [isAnswer: true, value: unknown] | readonly [isAnswer: false, message: string];

const DOWN = "The bus is down: other coordinators cannot be reached";

/**
 * A bus on a NATS server or cluster, with core NATS alone: what must survive is in storage. While no server can be reached the bus is down,
 * and tries. @throws {ConfigError} when the servers do not let us in.
 */
export async function openNatsBus(
  options: NatsOptions,
  name: string,
  { clock, log }: { readonly clock: Clock; readonly log: Pick<Logger, "warn" | "info"> },
): Promise<Bus> {
  const listeners = new Set<(downBecause: string | null) => void>();
  let isClosing = false;
  // Not before both are open.
  let noteChange = (): void => undefined;
  const open = (part: string): Promise<NatsLink> =>
    openNatsLink(options, `${name} ${part}`, { clock, log }, () => noteChange());
  const control = await open("control");
  const bulk = await open("bulk").catch(async (error: unknown) => {
    await control.close();
    throw error;
  });
  const downBecause = (): string | null => control.downBecause ?? bulk.downBecause;
  let wasDown = downBecause() !== null;
  if (wasDown) log.warn({ because: downBecause() }, DOWN);
  noteChange = () => {
    const because = downBecause();
    if (isClosing || wasDown === (because !== null)) return;
    wasDown = because !== null;
    if (because === null) log.info({}, "The bus is back");
    else log.warn({ because }, DOWN);
    for (const listener of listeners) listener(because);
  };

  function linkFor(subject: string): NatsLink {
    return subject.startsWith(BULK) ? bulk : control;
  }

  /** Runs what must not throw into the client: its reading would end for good. */
  function guarded(subject: string, task: () => void): void {
    try {
      task();
    } catch (error) {
      log.warn({ err: error, subject }, "A message of the bus could not be sent or handled");
    }
  }

  // With a callback: an iterator keeps what is not taken, without bound.
  function listen(link: NatsLink, subject: string, receive: (message: Msg) => void): Unsubscribe {
    return link.subscribe(PREFIX + subject, (error, message) => {
      if (error === null) receive(message);
      else log.warn({ err: error, subject }, "A subscription of the bus failed");
    });
  }

  async function respondTo(message: Msg, handler: (message: unknown) => Promise<unknown>): Promise<void> {
    const respond = (answer: Answer): void => {
      if (!isClosing) message.respond(packr.pack(answer));
    };
    try {
      respond([true, await handler(packr.unpack(message.data))]);
    } catch (error) {
      // Of the handler, or as its answer is too large for a message.
      guarded(message.subject, () => respond([false, error instanceof Error ? error.message : String(error)]));
    }
  }

  return {
    get downBecause(): string | null {
      return downBecause();
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    publish(subject, message) {
      // The client would keep it, without bound, until the server is back.
      if (downBecause() !== null || isClosing) return;
      guarded(subject, () => linkFor(subject).connection?.publish(PREFIX + subject, packr.pack(message)));
    },
    subscribe: (subject, listener) =>
      listen(linkFor(subject), subject, ({ data }) => guarded(subject, () => listener(packr.unpack(data)))),
    async request(subject, message, timeoutMs) {
      const { connection } = control;
      const because = downBecause();
      if (because !== null || connection === null) throw new BusError("unreachable", `The bus is down: ${because}`);
      let reply: Msg;
      try {
        reply = await connection.request(PREFIX + subject, packr.pack(message), { timeout: timeoutMs });
      } catch (cause) {
        // Such as a message that is too large.
        if (cause instanceof errors.InvalidArgumentError) {
          throw new BusError("refused", `${subject} cannot be asked: ${cause.message}`, { cause });
        }
        const isNobody = cause instanceof errors.NoRespondersError || cause instanceof errors.RequestError;
        const kind = isNobody || isClosing ? "unreachable" : "timeout";
        throw new BusError(kind, `${subject} was not answered: ${String(cause)}`, { cause });
      }
      const [isAnswer, value] = packr.unpack(reply.data) as Answer;
      if (isAnswer) return value;
      throw new BusError("refused", value);
    },
    answer: (subject, handler) => listen(control, subject, (message) => void respondTo(message, handler)),
    async close() {
      isClosing = true;
      await Promise.all([control.close(), bulk.close()]);
    },
  };
}

/** The options of `connect` that an operator's settings may give: servers, credentials, TLS. */
export type NatsOptions = Pick<NodeConnectionOptions, "servers" | "user" | "pass" | "token" | "tls" | "authenticator">;

type Callback = (error: Error | null, message: Msg) => void;

interface Held {
  readonly subject: string;
  readonly callback: Callback;
  live: Subscription | null;
}

type NatsLink = Awaited<ReturnType<typeof openNatsLink>>;

/**
 * A connection to the servers, which may not be there yet. Subscriptions are made whenever it comes. It tries once; if no server answers,
 * it goes on trying. `onChange` is called when `downBecause` has changed.
 * @throws {ConfigError} when the servers do not let us in.
 */
async function openNatsLink(
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
