import { BusError, type Bus, type Unsubscribe } from "../../../coordinator/bus/bus.ts";
import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import { networkQuota } from "../../../coordinator/cluster/network-quota.ts";
import type { Peers } from "../../../coordinator/cluster/peers.ts";
import type { RequestCount } from "../../../coordinator/quotas/request-window.ts";
import type { Peer } from "../../../coordinator/store/cluster-store.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { peerOf, peersOn } from "./peers-on.ts";

/** Bus that a test can cut for all coordinators, or for a stalled one. */
export class CuttableBus implements Bus {
  downReason: string | null = null;
  /** Coordinators that do not reply. */
  readonly frozen = new Set<string>();
  /** Number of requests on the bus. */
  asked = 0;
  readonly #bus = new LocalBus();
  readonly #listeners = new Set<(downReason: string | null) => void>();

  setDown(downReason: string | null): void {
    this.downReason = downReason;
    for (const listener of this.#listeners) listener(downReason);
  }

  onChange(listener: (downReason: string | null) => void): Unsubscribe {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  publish(subject: string, message: unknown): void {
    if (this.downReason === null) this.#bus.publish(subject, message);
  }

  subscribe(subject: string, listener: (message: unknown) => void): Unsubscribe {
    return this.#bus.subscribe(subject, listener);
  }

  async request(subject: string, message: unknown): Promise<unknown> {
    this.asked += 1;
    if (this.downReason !== null) throw new BusError("unreachable", this.downReason);
    if (this.frozen.has(subject.split(".")[0] ?? "")) throw new BusError("timeout", "It stands still");
    return this.#bus.request(subject, message);
  }

  handle(subject: string, handler: (message: unknown) => Promise<unknown>): Unsubscribe {
    return this.#bus.handle(subject, handler);
  }

  close(): Promise<void> {
    return this.#bus.close();
  }
}

/** Quotas of several connected coordinators. */
export class QuotaNetwork {
  readonly clock = new ManualClock();
  readonly bus = new CuttableBus();
  readonly quotas = new Map<string, ReturnType<typeof networkQuota>>();
  readonly #peers: Peers[] = [];
  #live: readonly Peer[] = [];

  constructor(ids: readonly string[]) {
    this.#live = ids.map(peerOf);
    for (const id of ids) this.#open(id);
  }

  of(id: string): ReturnType<typeof networkQuota> {
    const quota = this.quotas.get(id);
    if (quota === undefined) throw new Error(`${id} is no coordinator`);
    return quota;
  }

  /** Kills a coordinator, which then does nothing more. The others see that it is gone. */
  kill(id: string): void {
    this.of(id).close();
    this.quotas.delete(id);
    this.setLive(this.#live.map((peer) => peer.id).filter((each) => each !== id));
  }

  join(id: string): void {
    this.#live = [...this.#live, peerOf(id)].sort((a, b) => (a.id < b.id ? -1 : 1));
    this.#open(id);
    this.setLive(this.#live.map((peer) => peer.id));
  }

  setLive(ids: readonly string[]): void {
    this.#live = ids.map(peerOf);
    for (const peers of this.#peers) peers.setLive(this.#live);
  }

  async request(id: string, accountId: string, limit: number): Promise<RequestCount> {
    return this.of(id).countRequest({ accountId, credential: `key of ${accountId}`, limit });
  }

  close(): void {
    for (const quota of this.quotas.values()) quota.close();
  }

  #open(id: string): void {
    const ids = this.#live.map((peer) => peer.id);
    const peers = peersOn(this.bus, id, ids, { clock: this.clock });
    this.#peers.push(peers);
    this.quotas.set(id, networkQuota(peers, this.clock));
  }
}
