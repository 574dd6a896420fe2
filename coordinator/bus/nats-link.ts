import {
  connect,
  errors,
  type Msg,
  type NatsConnection,
  type Status,
  type Subscription,
} from "@nats-io/transport-node";
import type { Clock, Timer } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Unsubscribe } from "./bus.ts";
import type { NatsOptions } from "./nats-bus.ts";

const RECONNECT_MS = 250;
/** Between tries where there is no connection that tries by itself. */
const RETRY_MS = 1_000;
/** A connection is lost after two of these without an answer. */
const PING_MS = 2_000;

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

  /** Tries once; if no server answers, it goes on trying. @throws when the servers do not let us in. */
  static async open(deps: NatsLinkDeps): Promise<NatsLink> {
    const link = new NatsLink(deps);
    const fault = await link.#connect();
    if (fault instanceof errors.AuthorizationError) throw fault;
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
      if (held.live?.isClosed() === false) held.live.unsubscribe();
    };
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#retry?.cancel();
    // Draining waits for the server, which may be away.
    if (this.#downBecause === null) await this.#connection?.drain();
    else await this.#connection?.close();
  }

  /** Why not; null if there is a connection now. */
  async #connect(): Promise<unknown> {
    const { options, name } = this.#deps;
    let connection: NatsConnection;
    try {
      connection = await connect({
        ...options,
        name,
        maxReconnectAttempts: -1,
        reconnectTimeWait: RECONNECT_MS,
        pingInterval: PING_MS,
      });
    } catch (error) {
      this.#setDown(error instanceof Error ? error.message : String(error));
      return error;
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
