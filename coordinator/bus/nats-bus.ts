import { errors, type Msg } from "@nats-io/transport-node";
import { Packr } from "msgpackr";
import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import { BusError, type Bus, type Unsubscribe } from "./bus.ts";
import { openNatsLink, type NatsLink, type NatsOptions } from "./nats-link.ts";

/** What all subjects begin with; the number is the version of the messages. */
const PREFIX = "atoll.2.";
/** What begins so has a connection of its own: a subscriber that stands still stalls the connection that publishes to it. */
const BULK = "stream.";
const packr = new Packr({ useRecords: false });

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
