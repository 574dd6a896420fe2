import {
  connect,
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
import { describeFault, NEEDED_PAYLOAD_BYTES, settingFaultOf, SmallPayloadError } from "./nats-faults.ts";

const CONNECT_TIMEOUT_MS = 5_000;
/** What was published leaves within this time, or not at all. */
const MAX_DRAIN_MS = 2_000;

const RECONNECT_MS = 250;
/** Between tries where there is no connection that tries by itself. */
const RETRY_MS = 1_000;
/** A connection is lost after two of these without an answer. */
const PING_MS = 2_000;

/** The options of `connect` that an operator's settings may give: servers, credentials, TLS. */
export type NatsOptions = Pick<NodeConnectionOptions, "servers" | "user" | "pass" | "token" | "tls" | "authenticator">;

type Callback = (error: Error | null, message: Msg) => void;

interface Held {
  readonly subject: string;
  readonly callback: Callback;
  live: Subscription | null;
}

interface NatsLinkDeps {
  readonly options: NatsOptions;
  readonly name: string;
  readonly clock: Pick<Clock, "schedule">;
  readonly log: Pick<Logger, "warn">;
  /** Called when {@link NatsLink.downBecause} has changed. */
  readonly onChange: () => void;
}

/** A connection to the servers, which may not be there yet. Subscriptions are made whenever it comes. */
export class NatsLink {
  readonly #deps: NatsLinkDeps;
  readonly #held = new Set<Held>();
  #connection: NatsConnection | null = null;
  #downBecause: string | null = "not connected yet";
  #retry: Timer | null = null;
  #isClosing = false;

  private constructor(deps: NatsLinkDeps) {
    this.#deps = deps;
  }

  /** Tries once; if no server answers, it goes on trying. @throws {ConfigError} when the servers do not let us in. */
  static async open(deps: NatsLinkDeps): Promise<NatsLink> {
    const link = new NatsLink(deps);
    const fault = await link.#connect();
    const settingFault = settingFaultOf(fault);
    if (settingFault !== null) throw new ConfigError([`bus: ${settingFault}`], { cause: fault });
    if (fault !== null) link.#tryLater();
    return link;
  }

  get downBecause(): string | null {
    return this.#downBecause;
  }

  /** Null until the first connection. */
  get connection(): NatsConnection | null {
    return this.#connection;
  }

  subscribe(subject: string, callback: Callback): Unsubscribe {
    const held: Held = { subject, callback, live: this.#connection?.subscribe(subject, { callback }) ?? null };
    this.#held.add(held);
    return () => {
      this.#held.delete(held);
      // A connection that drains ends them all, and throws.
      if (held.live?.isClosed() === false && !this.#isClosing) held.live.unsubscribe();
    };
  }

  /** Never rejects. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#retry?.cancel();
    const connection = this.#connection;
    if (connection === null) return;
    // Draining waits for the server, which may be away or stand still.
    if (this.#downBecause === null) await this.#drain(connection);
    await connection.close().catch(() => undefined);
  }

  async #drain(connection: NatsConnection): Promise<void> {
    const { clock, log } = this.#deps;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const limit = clock.schedule(MAX_DRAIN_MS, () => resolve(new Error("The server does not answer")));
    connection.drain().then(() => resolve(null), resolve);
    const fault = await promise;
    limit.cancel();
    if (fault !== null) log.warn({ err: fault }, "The last messages on the bus may be lost");
  }

  /** Why not; null if there is a connection now. */
  async #connect(): Promise<unknown> {
    const { options, name } = this.#deps;
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
      this.#setDown(describeFault(error, options.tls !== undefined));
      return error;
    }
    const maxPayloadBytes = connection.info?.max_payload ?? NEEDED_PAYLOAD_BYTES;
    if (maxPayloadBytes < NEEDED_PAYLOAD_BYTES) {
      await connection.close();
      const fault = new SmallPayloadError(maxPayloadBytes);
      this.#setDown(fault.message);
      return fault;
    }
    if (this.#isClosing) {
      await connection.close();
      return null;
    }
    this.#connection = connection;
    for (const held of this.#held) held.live = connection.subscribe(held.subject, { callback: held.callback });
    void this.#watch(connection);
    this.#setDown(null);
    return null;
  }

  #tryLater(): void {
    if (this.#isClosing) return;
    this.#retry = this.#deps.clock.schedule(RETRY_MS, () => {
      void this.#connect().then((fault) => {
        if (fault !== null) this.#tryLater();
      });
    });
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) this.#note(status);
    // It has given up: the servers let it in no more.
    const fault = await connection.closed();
    if (this.#isClosing) return;
    this.#setDown(fault?.message ?? "the connection was closed");
    this.#tryLater();
  }

  #note(status: Status): void {
    if (status.type === "disconnect") this.#setDown(`no connection to ${status.server}`);
    else if (status.type === "reconnect") this.#setDown(null);
    else if (status.type === "slowConsumer") this.#deps.log.warn({}, "A subscriber of the bus is slow");
  }

  #setDown(because: string | null): void {
    if (because === this.#downBecause) return;
    this.#downBecause = because;
    if (!this.#isClosing) this.#deps.onChange();
  }
}
