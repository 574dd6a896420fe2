import {
  connect,
  errors,
  type Msg,
  type NatsConnection,
  type NodeConnectionOptions,
  type Status,
} from "@nats-io/transport-node";
import { Packr } from "msgpackr";
import type { Logger } from "../../shared/logger.ts";
import { BusError, type Bus, type Unsubscribe } from "./bus.ts";

/** What all subjects begin with; the number is the version of the messages. */
const PREFIX = "atoll.1.";
/** What begins so has a connection of its own: a subscriber that stands still stalls the connection that publishes to it. */
const BULK = "feed.";
const RECONNECT_MS = 250;
/** A connection is lost after two of these without an answer. */
const PING_MS = 2_000;
const packr = new Packr({ useRecords: false });

/** A request's answer. */
type Answer = readonly [isAnswer: true, value: unknown] | readonly [isAnswer: false, message: string];

/** The options of `connect` that an operator's settings may give: servers, credentials, TLS. */
export type NatsOptions = Pick<NodeConnectionOptions, "servers" | "user" | "pass" | "token" | "tls" | "authenticator">;

/** A bus on a NATS server or cluster, with core NATS alone: what must survive is in storage. */
export class NatsBus implements Bus {
  readonly #control: NatsConnection;
  readonly #bulk: NatsConnection;
  readonly #log: Pick<Logger, "warn" | "info">;
  readonly #listeners = new Set<(downBecause: string | null) => void>();
  readonly #down = new Map<NatsConnection, string>();
  #isClosing = false;

  private constructor(control: NatsConnection, bulk: NatsConnection, log: Pick<Logger, "warn" | "info">) {
    this.#control = control;
    this.#bulk = bulk;
    this.#log = log;
    for (const connection of [control, bulk]) void this.#watch(connection);
  }

  /** @throws when no server can be reached at the start. */
  static async open(options: NatsOptions, name: string, log: Pick<Logger, "warn" | "info">): Promise<NatsBus> {
    const open = (part: string): Promise<NatsConnection> =>
      connect({
        ...options,
        name: `${name} ${part}`,
        maxReconnectAttempts: -1,
        reconnectTimeWait: RECONNECT_MS,
        pingInterval: PING_MS,
      });
    const control = await open("control");
    return new NatsBus(control, await open("bulk"), log);
  }

  get downBecause(): string | null {
    const [because] = this.#down.values();
    return because ?? null;
  }

  onChange(listener: (downBecause: string | null) => void): Unsubscribe {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  publish(subject: string, message: unknown): void {
    // The client would keep it, without bound, until the server is back.
    if (this.downBecause !== null || this.#isClosing) return;
    this.#connectionFor(subject).publish(PREFIX + subject, packr.pack(message));
  }

  subscribe(subject: string, listener: (message: unknown) => void): Unsubscribe {
    // With a callback: an iterator keeps what is not taken, without bound.
    const subscription = this.#connectionFor(subject).subscribe(PREFIX + subject, {
      callback: (error, message) => {
        if (error === null) listener(packr.unpack(message.data));
        else this.#log.warn({ err: error, subject }, "A subscription of the bus failed");
      },
    });
    return () => subscription.unsubscribe();
  }

  async request(subject: string, message: unknown, timeoutMs: number): Promise<unknown> {
    if (this.downBecause !== null) throw new BusError("unreachable", `The bus is down: ${this.downBecause}`);
    let reply: Msg;
    try {
      reply = await this.#control.request(PREFIX + subject, packr.pack(message), { timeout: timeoutMs });
    } catch (cause) {
      const isNobody = cause instanceof errors.NoRespondersError || cause instanceof errors.RequestError;
      const kind = isNobody || this.#isClosing ? "unreachable" : "timeout";
      throw new BusError(kind, `${subject} was not answered: ${String(cause)}`, { cause });
    }
    const [isAnswer, value] = packr.unpack(reply.data) as Answer;
    if (isAnswer) return value;
    throw new BusError("refused", String(value));
  }

  answer(subject: string, handler: (message: unknown) => Promise<unknown>): Unsubscribe {
    const subscription = this.#control.subscribe(PREFIX + subject, {
      callback: (error, message) => {
        if (error === null) void this.#answer(message, handler);
        else this.#log.warn({ err: error, subject }, "A subscription of the bus failed");
      },
    });
    return () => subscription.unsubscribe();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all([this.#control, this.#bulk].map((connection) => this.#end(connection)));
  }

  async #end(connection: NatsConnection): Promise<void> {
    // Draining waits for the server, which may be away.
    if (this.downBecause === null) await connection.drain();
    else await connection.close();
  }

  async #answer(message: Msg, handler: (message: unknown) => Promise<unknown>): Promise<void> {
    let answer: Answer;
    try {
      answer = [true, await handler(packr.unpack(message.data))];
    } catch (error) {
      answer = [false, error instanceof Error ? error.message : String(error)];
    }
    if (!this.#isClosing) message.respond(packr.pack(answer));
  }

  #connectionFor(subject: string): NatsConnection {
    return subject.startsWith(BULK) ? this.#bulk : this.#control;
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) this.#note(connection, status);
  }

  #note(connection: NatsConnection, status: Status): void {
    const before = this.downBecause;
    if (status.type === "disconnect") this.#down.set(connection, `no connection to ${status.server}`);
    else if (status.type === "reconnect") this.#down.delete(connection);
    else if (status.type === "slowConsumer") this.#log.warn({}, "A subscriber of the bus is slow");
    const now = this.downBecause;
    if ((before === null) === (now === null) || this.#isClosing) return;
    if (now === null) this.#log.info({}, "The bus is back");
    else this.#log.warn({ because: now }, "The bus is down: other coordinators cannot be reached");
    for (const listener of this.#listeners) listener(now);
  }
}
