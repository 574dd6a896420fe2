import { z } from "zod";
import type { Clock } from "../../shared/clock.ts";
import type { DeepReadonly } from "../../shared/deep-readonly.ts";
import type { Logger } from "../../shared/logger.ts";
import { BusError, type Bus, type Unsubscribe } from "../bus/bus.ts";
import { LocalBus } from "../bus/local-bus.ts";
import type { Peer } from "../store/cluster-store.ts";
import type { News, Question } from "./messages.ts";
import { followStreams, framesSchema, serveStreams } from "./peer-streams.ts";

/** A message on the bus names its sender. */
type Envelope = readonly [fromId: string, content: unknown];
/** Of messages to one coordinator. */
const subjectTo = (id: string, name: string): string => `${name}.${id}`;
/** Frames have a connection of their own, which a reader that stands still may hold up. */
const framesTo = (id: string): string => subjectTo(id, "stream");
const envelopeOf = <T>(content: z.ZodType<T>) => z.tuple([z.string().max(200), content]);

/** A peer that was asked; `reply` is undefined if it gave none in time. */
type PeerReply<R> = Peer & { readonly reply: R | undefined };

type Handler<Q, R> = (question: Q, fromId: string) => DeepReadonly<R> | Promise<DeepReadonly<R>>;

interface PeersEnv {
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn">;
}

export type Peers = ReturnType<typeof openPeers>;

/**
 * The coordinators of a network as this one knows them, and its messages to and from them. Messages to itself stay in the process, also
 * while the bus is down. One that is alone has no others.
 */
export function openPeers(given: Peer, bus: Bus, env: PeersEnv) {
  const { log } = env;
  let self = given;
  let live: readonly Peer[] = [self];
  let liveIds: ReadonlySet<string> = new Set([self.id]);
  const listeners = new Set<() => void>();
  const local = new LocalBus();
  const stops = new Set<Unsubscribe>();
  const failed: Record<BusError["kind"], number> = { unreachable: 0, timeout: 0, refused: 0 };

  const othersNow = (): readonly Peer[] => live.filter(({ id }) => id !== self.id);

  function busTo(id: string): Pick<Bus, "request" | "publish"> {
    return id === self.id ? local : bus;
  }

  function kept(...ends: Unsubscribe[]): Unsubscribe {
    const stop = (): void => {
      stops.delete(stop);
      for (const end of ends) end();
    };
    stops.add(stop);
    return stop;
  }

  /** @throws {BusError} `refused` also for a reply that is invalid. */
  async function ask<Q, R>(
    id: string,
    message: Question<Q, R>,
    question: DeepReadonly<Q>,
    withinMs = message.withinMs,
  ): Promise<R> {
    try {
      const envelope: Envelope = [self.id, question];
      const reply = await busTo(id).request(`${id}.${message.name}`, envelope, Math.max(1, withinMs));
      const { success, data, error } = message.reply.safeParse(reply);
      if (success) return data;
      log.warn({ err: error, coordinator: id, subject: message.name }, "A peer sent an invalid reply");
      throw new BusError("refused", `${id} sent an invalid reply to ${message.name}`, { cause: error });
    } catch (error) {
      if (error instanceof BusError) failed[error.kind] += 1;
      throw error;
    }
  }

  /** An error of `handler` refuses the question with its message, and so does a question that is invalid. */
  function answer<Q, R>(message: Question<Q, R>, handler: Handler<Q, R>): Unsubscribe {
    const subject = `${self.id}.${message.name}`;
    const schema = envelopeOf(message.question);
    const handle = async (envelope: unknown): Promise<DeepReadonly<R>> => {
      const { success, data, error } = schema.safeParse(envelope);
      if (!success) throw new Error(`Invalid ${message.name}: ${z.prettifyError(error)}`);
      return handler(data[1], data[0]);
    };
    return kept(bus.answer(subject, handle), local.answer(subject, handle));
  }

  /** Messages that are invalid are logged and dropped. */
  function listen<T>(
    on: readonly Bus[],
    subject: string,
    content: z.ZodType<T>,
    listener: (content: T, fromId: string) => void,
  ) {
    const schema = envelopeOf(content);
    const receive = (envelope: unknown): void => {
      const { success, data, error } = schema.safeParse(envelope);
      if (success) return listener(data[1], data[0]);
      const coordinator: unknown = Array.isArray(envelope) ? envelope[0] : undefined;
      log.warn({ err: error, coordinator, subject }, "A peer sent an invalid message");
    };
    return kept(...on.map((each) => each.subscribe(subject, receive)));
  }

  const isLive = (id: string): boolean => liveIds.has(id);
  const incoming = followStreams({ ask, isLive }, env);
  const outgoing = serveStreams(
    { answer, isLive },
    (id, frames) => busTo(id).publish(framesTo(id), [self.id, frames] satisfies Envelope),
    env,
  );
  listen([bus, local], framesTo(self.id), framesSchema, (frames, fromId) => incoming.receive(frames, fromId));

  return {
    get self(): Peer {
      return self;
    },
    /** Sorted by id, this one included. While storage does not answer, those that were seen last. */
    get live(): readonly Peer[] {
      return live;
    },
    get others(): readonly Peer[] {
      return othersNow();
    },
    isLive,
    /** Peers learn it with the next renewal of the lease. */
    setAddress(address: string): void {
      self = { ...self, address };
    },
    setLive(peers: readonly Peer[]): void {
      live = peers;
      liveIds = new Set(peers.map(({ id }) => id));
      for (const listener of listeners) listener();
    },
    /** Calls `listener` after {@link living} has changed, until the returned function is called. */
    onChange(listener: () => void): Unsubscribe {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** Why other coordinators cannot be reached; null while they can. */
    get downBecause(): string | null {
      return bus.downBecause;
    },
    onBusChange(listener: (downBecause: string | null) => void): Unsubscribe {
      return kept(bus.onChange(listener));
    },
    /** Questions without a reply, by why. */
    failed,
    ask,
    /** Asks all others at once. `fault`: logged for each that does not reply. */
    askAll<Q, R>(
      message: Question<Q, R>,
      question: DeepReadonly<Q>,
      fault?: string,
      peers = othersNow(),
    ): Promise<PeerReply<R>[]> {
      return Promise.all(
        peers.map(async (peer) => {
          const reply = await ask(peer.id, message, question).catch((error: unknown) => {
            if (fault !== undefined) log.warn({ err: error, coordinator: peer.id }, fault);
            return undefined;
          });
          return { ...peer, reply };
        }),
      );
    },
    answer,
    /** Sends to all, this coordinator included. Lost while the bus is down. */
    tell<T>(message: News<T>, content: DeepReadonly<T>): void {
      bus.publish(message.name, [self.id, content] satisfies Envelope);
    },
    hear<T>(message: News<T>, listener: (content: T, fromId: string) => void): Unsubscribe {
      return listen([bus], message.name, message.content, (content, fromId) => {
        incoming.noteHeard(fromId);
        listener(content, fromId);
      });
    },
    /** Sends to one coordinator. Lost while the bus is down. */
    tellOne<T>(id: string, message: News<T>, content: DeepReadonly<T>): void {
      busTo(id).publish(subjectTo(id, message.name), [self.id, content] satisfies Envelope);
    },
    /** Hears what others send to this coordinator alone. */
    hearOwn<T>(message: News<T>, listener: (content: T, fromId: string) => void): Unsubscribe {
      return listen([bus, local], subjectTo(self.id, message.name), message.content, listener);
    },
    stream: incoming.stream,
    serve: outgoing.serve,
    /** Neither answers nor hears any more. The bus is its opener's. */
    close(): void {
      outgoing.close();
      incoming.close();
      for (const stop of stops) stop();
    },
  };
}
