import { z } from "zod";
import type { DeepReadonly } from "../../shared/deep-readonly.ts";
import { BusError, type Bus, type Unsubscribe } from "../bus/bus.ts";
import { LocalBus } from "../bus/local-bus.ts";
import type { Peer } from "../store/cluster-store.ts";
import type { News, Question } from "./messages.ts";
import { followStreams, framesSchema, serveStreams, type PeersEnv } from "./peer-streams.ts";

type Envelope = readonly [fromId: string, content: unknown];
const subjectTo = (id: string, name: string): string => `${name}.${id}`;
/** Returns the subject of frames, which use a separate connection because a stalled reader may block it. */
const framesSubject = (id: string): string => subjectTo(id, "stream");
const envelopeOf = <T>(content: z.ZodType<T>) => z.tuple([z.string().max(200), content]);

/** A peer with its reply; undefined if no reply came in time. */
type PeerReply<R> = Peer & { readonly reply: R | undefined };

type Handler<Q, R> = (question: Q, fromId: string) => DeepReadonly<R> | Promise<DeepReadonly<R>>;

export type Peers = ReturnType<typeof openPeers>;

/** Keeps the list of live coordinators and exchanges messages. Messages to this coordinator stay in the process. */
export function openPeers(given: Peer, bus: Bus, env: PeersEnv) {
  const { log } = env;
  let self = given;
  let live: readonly Peer[] = [self];
  let liveIds: ReadonlySet<string> = new Set([self.id]);
  const listeners = new Set<() => void>();
  const local = new LocalBus();
  const stops = new Set<Unsubscribe>();
  const failed: Record<BusError["kind"], number> = { unreachable: 0, timeout: 0, refused: 0 };

  const others = (): readonly Peer[] => live.filter(({ id }) => id !== self.id);

  function busFor(id: string): Pick<Bus, "request" | "publish"> {
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

  /** Sends a request to one coordinator. @throws {BusError} `refused` also for an invalid reply */
  async function ask<Q, R>(
    id: string,
    message: Question<Q, R>,
    question: DeepReadonly<Q>,
    withinMs = message.withinMs,
  ): Promise<R> {
    try {
      const envelope: Envelope = [self.id, question];
      const reply = await busFor(id).request(`${id}.${message.name}`, envelope, Math.max(1, withinMs));
      const { success, data, error } = message.reply.safeParse(reply);
      if (success) return data;
      log.warn({ err: error, coordinator: id, subject: message.name }, "A peer sent an invalid reply");
      throw new BusError("refused", `${id} sent an invalid reply to ${message.name}`, { cause: error });
    } catch (error) {
      if (error instanceof BusError) failed[error.kind] += 1;
      throw error;
    }
  }

  /** Handles requests. An error of `handler`, or an invalid request, is returned to the sender as a message. */
  function handle<Q, R>(message: Question<Q, R>, handler: Handler<Q, R>): Unsubscribe {
    const subject = `${self.id}.${message.name}`;
    const schema = envelopeOf(message.question);
    const respond = async (envelope: unknown): Promise<DeepReadonly<R>> => {
      const { success, data, error } = schema.safeParse(envelope);
      if (!success) throw new Error(`Invalid ${message.name}: ${z.prettifyError(error)}`);
      return handler(data[1], data[0]);
    };
    return kept(bus.handle(subject, respond), local.handle(subject, respond));
  }

  /** Subscribes to messages. Invalid messages are logged and dropped. */
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
    { handle, isLive },
    (id, frames) => busFor(id).publish(framesSubject(id), [self.id, frames] satisfies Envelope),
    env,
  );
  listen([bus, local], framesSubject(self.id), framesSchema, (frames, fromId) => incoming.receive(frames, fromId));

  return {
    get self(): Peer {
      return self;
    },
    /** Live coordinators, sorted by id, including this one. While storage is unavailable, the last known list. */
    get live(): readonly Peer[] {
      return live;
    },
    get others(): readonly Peer[] {
      return others();
    },
    isLive,
    /** Sets the address. Peers learn it with the next lease renewal. */
    setAddress(address: string): void {
      self = { ...self, address };
    },
    setLive(peers: readonly Peer[]): void {
      live = peers;
      liveIds = new Set(peers.map(({ id }) => id));
      for (const listener of listeners) listener();
    },
    /** Calls `listener` after `live` has changed. */
    onChange(listener: () => void): Unsubscribe {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** Why other coordinators cannot be reached; null while the bus is up. */
    get downReason(): string | null {
      return bus.downReason;
    },
    onBusChange(listener: (downReason: string | null) => void): Unsubscribe {
      return kept(bus.onChange(listener));
    },
    failed,
    ask,
    /** Asks all other coordinators at once. Logs `fault` for each that does not reply. */
    askAll<Q, R>(
      message: Question<Q, R>,
      question: DeepReadonly<Q>,
      fault?: string,
      peers = others(),
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
    handle,
    /** Sends a message to all coordinators, including this one. It is lost while the bus is down. */
    broadcast<T>(message: News<T>, content: DeepReadonly<T>): void {
      bus.publish(message.name, [self.id, content] satisfies Envelope);
    },
    onBroadcast<T>(message: News<T>, listener: (content: T, fromId: string) => void): Unsubscribe {
      return listen([bus], message.name, message.content, (content, fromId) => {
        incoming.noteReachable(fromId);
        listener(content, fromId);
      });
    },
    /** Sends a message to one coordinator. It is lost while the bus is down. */
    send<T>(id: string, message: News<T>, content: DeepReadonly<T>): void {
      busFor(id).publish(subjectTo(id, message.name), [self.id, content] satisfies Envelope);
    },
    /** Subscribes to messages sent only to this coordinator. */
    onMessage<T>(message: News<T>, listener: (content: T, fromId: string) => void): Unsubscribe {
      return listen([bus, local], subjectTo(self.id, message.name), message.content, listener);
    },
    stream: incoming.stream,
    serve: outgoing.serve,
    /** Stops serving and receiving. The opener of the bus closes it. */
    close(): void {
      outgoing.close();
      incoming.close();
      for (const stop of stops) stop();
    },
  };
}
