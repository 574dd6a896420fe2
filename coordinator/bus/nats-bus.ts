import { errors, type Msg } from "@nats-io/transport-node";
import { Packr } from "msgpackr";
import { systemClock, type Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import { BusError, type Bus, type Unsubscribe } from "./bus.ts";
import { NatsLink, type NatsOptions } from "./nats-link.ts";

/** What all subjects begin with; the number is the version of the messages. */
const PREFIX = "atoll.2.";
/** What begins so has a connection of its own: a subscriber that stands still stalls the connection that publishes to it. */
const BULK = "stream.";
const packr = new Packr({ useRecords: false });

/** A request's answer. */
type Answer = readonly [isAnswer: true, value: unknown] | readonly [isAnswer: false, message: string];

/** A bus on a NATS server or cluster, with core NATS alone: what must survive is in storage. */
export class NatsBus implements Bus {
  #control!: NatsLink;
  #bulk!: NatsLink;
  readonly #log: Pick<Logger, "warn" | "info">;
  readonly #listeners = new Set<(downBecause: string | null) => void>();
  #wasDown = true;
  #isClosing = false;

  private constructor(log: Pick<Logger, "warn" | "info">) {
    this.#log = log;
  }

  /** While no server can be reached the bus is down, and tries. @throws {ConfigError} when the servers do not let us in. */
  static async open(
    options: NatsOptions,
    name: string,
    log: Pick<Logger, "warn" | "info">,
    clock: Pick<Clock, "schedule"> = systemClock,
  ): Promise<NatsBus> {
    const bus = new NatsBus(log);
    const open = (part: string): Promise<NatsLink> =>
      NatsLink.open(options, `${name} ${part}`, { clock, log }, () => bus.#noteChange());
    bus.#control = await open("control");
    try {
      bus.#bulk = await open("bulk");
    } catch (error) {
      await bus.#control.close();
      throw error;
    }
    bus.#wasDown = bus.downBecause !== null;
    if (bus.#wasDown) log.warn({ because: bus.downBecause }, DOWN);
    return bus;
  }

  get downBecause(): string | null {
    return this.#control.downBecause ?? this.#bulk.downBecause;
  }

  onChange(listener: (downBecause: string | null) => void): Unsubscribe {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  publish(subject: string, message: unknown): void {
    // The client would keep it, without bound, until the server is back.
    if (this.downBecause !== null || this.#isClosing) return;
    this.#guarded(subject, () => this.#linkFor(subject).connection?.publish(PREFIX + subject, packr.pack(message)));
  }

  subscribe(subject: string, listener: (message: unknown) => void): Unsubscribe {
    // With a callback: an iterator keeps what is not taken, without bound.
    return this.#linkFor(subject).subscribe(PREFIX + subject, (error, message) => {
      if (error === null) this.#guarded(subject, () => listener(packr.unpack(message.data)));
      else this.#log.warn({ err: error, subject }, "A subscription of the bus failed");
    });
  }

  async request(subject: string, message: unknown, timeoutMs: number): Promise<unknown> {
    const { connection } = this.#control;
    if (this.downBecause !== null || connection === null) {
      throw new BusError("unreachable", `The bus is down: ${this.downBecause}`);
    }
    let reply: Msg;
    try {
      reply = await connection.request(PREFIX + subject, packr.pack(message), { timeout: timeoutMs });
    } catch (cause) {
      // Such as a message that is too large.
      if (cause instanceof errors.InvalidArgumentError) {
        throw new BusError("refused", `${subject} cannot be asked: ${cause.message}`, { cause });
      }
      const isNobody = cause instanceof errors.NoRespondersError || cause instanceof errors.RequestError;
      const kind = isNobody || this.#isClosing ? "unreachable" : "timeout";
      throw new BusError(kind, `${subject} was not answered: ${String(cause)}`, { cause });
    }
    const [isAnswer, value] = packr.unpack(reply.data) as Answer;
    if (isAnswer) return value;
    throw new BusError("refused", value);
  }

  answer(subject: string, handler: (message: unknown) => Promise<unknown>): Unsubscribe {
    return this.#control.subscribe(PREFIX + subject, (error, message) => {
      if (error === null) void this.#answer(message, handler);
      else this.#log.warn({ err: error, subject }, "A subscription of the bus failed");
    });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all([this.#control.close(), this.#bulk.close()]);
  }

  async #answer(message: Msg, handler: (message: unknown) => Promise<unknown>): Promise<void> {
    const respond = (answer: Answer): void => {
      if (!this.#isClosing) message.respond(packr.pack(answer));
    };
    try {
      respond([true, await handler(packr.unpack(message.data))]);
    } catch (error) {
      // Of the handler, or as its answer is too large for a message.
      this.#guarded(message.subject, () => respond([false, error instanceof Error ? error.message : String(error)]));
    }
  }

  /** Runs what must not throw into the client: its reading would end for good. */
  #guarded(subject: string, task: () => void): void {
    try {
      task();
    } catch (error) {
      this.#log.warn({ err: error, subject }, "A message of the bus could not be sent or handled");
    }
  }

  #linkFor(subject: string): NatsLink {
    return subject.startsWith(BULK) ? this.#bulk : this.#control;
  }

  #noteChange(): void {
    // While it opens, the second connection is not there yet.
    if (this.#bulk === undefined || this.#isClosing) return;
    const because = this.downBecause;
    if (this.#wasDown === (because !== null)) return;
    this.#wasDown = because !== null;
    if (because === null) this.#log.info({}, "The bus is back");
    else this.#log.warn({ because }, DOWN);
    for (const listener of this.#listeners) listener(because);
  }
}

const DOWN = "The bus is down: other coordinators cannot be reached";
