import { Packr } from "msgpackr";
import { BusError, type Bus, type Unsubscribe } from "../../coordinator/bus/bus.ts";
import { Random } from "../../test/support/random.ts";
import { sampleMs, type Latency } from "./latency.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** Traffic of the bus. Messages are counted for each subscriber that receives them. */
export interface Traffic {
  published: number;
  delivered: number;
  /** Number of requests, each of which has one reply. */
  requests: number;
  /** Bytes received by coordinators, as MessagePack. */
  bytes: number;
}

const packr = new Packr({ useRecords: false });

/** Network between simulated coordinators. Messages have latencies, and messages between two coordinators keep their order. */
export class SimulatedNetwork {
  readonly traffic: Traffic = { published: 0, delivered: 0, requests: 0, bytes: 0 };
  readonly #clock: VirtualClock;
  readonly #latency: Latency;
  readonly #random: Random;
  readonly #buses: SimulatedBus[] = [];

  constructor(clock: VirtualClock, latency: Latency, seed: number) {
    this.#clock = clock;
    this.#latency = latency;
    this.#random = new Random(seed);
  }

  newBus(): Bus {
    const bus = new SimulatedBus(this);
    this.#buses.push(bus);
    return bus;
  }

  publish(from: SimulatedBus, subject: string, message: unknown): void {
    const data = packr.pack(message);
    const copy: unknown = packr.unpack(data);
    this.traffic.published += 1;
    for (const to of this.#buses) {
      if (!to.listens(subject)) continue;
      this.traffic.delivered += 1;
      this.traffic.bytes += data.byteLength;
      this.#send(from, to, () => to.deliver(subject, copy));
    }
  }

  request(from: SimulatedBus, subject: string, message: unknown, timeoutMs: number): Promise<unknown> {
    const to = this.#buses.find((bus) => bus.answers(subject));
    if (to === undefined) return Promise.reject(new BusError("unreachable", `No responder for ${subject}`));
    this.traffic.requests += 1;
    return new Promise((resolve, reject) => {
      const late = this.#clock.schedule(timeoutMs, () => reject(new BusError("timeout", `No reply to ${subject}`)));
      const reply = (settle: () => void, value: unknown): void => {
        this.traffic.bytes += packr.pack(value).byteLength;
        this.#send(to, from, () => {
          late.cancel();
          settle();
        });
      };
      const data = packr.pack(message);
      this.traffic.bytes += data.byteLength;
      this.#send(from, to, () => {
        to.respond(subject, packr.unpack(data)).then(
          (value) => reply(() => resolve(packr.unpack(packr.pack(value))), value),
          (error: unknown) => reply(() => reject(new BusError("refused", String(error))), String(error)),
        );
      });
    });
  }

  #send(from: SimulatedBus, to: SimulatedBus, task: () => void): void {
    const nowMs = this.#clock.monotonicMs();
    const atMs = Math.max(nowMs + sampleMs(this.#latency, this.#random), from.lastArrivalMs.get(to) ?? 0);
    from.lastArrivalMs.set(to, atMs);
    this.#clock.schedule(atMs - nowMs, task);
  }
}

class SimulatedBus implements Bus {
  readonly downReason = null;
  /** Arrival time of the last message to each other coordinator. */
  readonly lastArrivalMs = new Map<SimulatedBus, number>();
  readonly #network: SimulatedNetwork;
  readonly #listeners = new Map<string, Set<(message: unknown) => void>>();
  readonly #handlers = new Map<string, (message: unknown) => Promise<unknown>>();

  constructor(network: SimulatedNetwork) {
    this.#network = network;
  }

  onChange(): Unsubscribe {
    return () => undefined;
  }

  publish(subject: string, message: unknown): void {
    this.#network.publish(this, subject, message);
  }

  subscribe(subject: string, listener: (message: unknown) => void): Unsubscribe {
    const listeners = this.#listeners.get(subject) ?? new Set();
    this.#listeners.set(subject, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  request(subject: string, message: unknown, timeoutMs: number): Promise<unknown> {
    return this.#network.request(this, subject, message, timeoutMs);
  }

  handle(subject: string, handler: (message: unknown) => Promise<unknown>): Unsubscribe {
    this.#handlers.set(subject, handler);
    return () => void this.#handlers.delete(subject);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    this.#handlers.clear();
  }

  listens(subject: string): boolean {
    return (this.#listeners.get(subject)?.size ?? 0) > 0;
  }

  answers(subject: string): boolean {
    return this.#handlers.has(subject);
  }

  deliver(subject: string, message: unknown): void {
    for (const listener of this.#listeners.get(subject) ?? []) listener(message);
  }

  async respond(subject: string, message: unknown): Promise<unknown> {
    return this.#handlers.get(subject)?.(message);
  }
}
