import type { Elsewhere } from "../scheduler/explain-elsewhere.ts";
import { workKeyOf, workKindOf, type WorkKind } from "../scheduler/slot-offer.ts";
import type { WorkLoad } from "../scheduler/shared-work.ts";
import type { PeerStatus } from "./messages.ts";

/** A coordinator that said nothing for so long counts as away. */
const SILENT_MS = 3_000;

/** What another coordinator said of itself. */
export interface PeerLoad {
  readonly id: string;
  readonly freeSlots: number;
  readonly islands: number;
  readonly heardAtMs: number;
  /** It was never silent since then. */
  readonly heardSinceMs: number;
  /** By `workKeyOf()`. */
  readonly work: Map<string, WorkLoad>;
  /** Since when it has waiting jobs of a kind, by `workKeyOf()`. */
  readonly waitsSinceMs: ReadonlyMap<string, number>;
}

/** A kind of which jobs wait at other coordinators. */
export interface Demand {
  readonly key: string;
  readonly kind: WorkKind;
  /** Those where they wait, by id. */
  readonly peers: ReadonlyMap<string, PeerLoad>;
}

/** What the other coordinators said of themselves last, as far as it is fresh. */
export class PeerLoads {
  readonly #peers = new Map<string, PeerLoad>();
  /** By `workKeyOf()`; only kinds of which jobs wait. */
  readonly #demands = new Map<string, Demand & { readonly peers: Map<string, PeerLoad> }>();

  get count(): number {
    return this.#peers.size;
  }

  all(): Iterable<PeerLoad> {
    return this.#peers.values();
  }

  hear(id: string, { freeSlots, islands, work }: PeerStatus, nowMs: number): void {
    const before = this.#peers.get(id);
    const waiting = work.filter(({ jobs }) => jobs > 0).map(workKeyOf);
    const waitsSinceMs = new Map(waiting.map((key) => [key, before?.waitsSinceMs.get(key) ?? nowMs]));
    const byKey = new Map(work.map((load) => [workKeyOf(load), load]));
    const heardSinceMs = before?.heardSinceMs ?? nowMs;
    const peer = { id, freeSlots, islands, heardAtMs: nowMs, heardSinceMs, work: byKey, waitsSinceMs };
    this.#peers.set(id, peer);
    for (const key of before?.work.keys() ?? []) if (!byKey.has(key)) this.#dropDemand(key, id);
    for (const load of work) this.#noteDemand(peer, load);
  }

  /** Newer figures of some kinds than the peer's last status. */
  correct(id: string, loads: readonly WorkLoad[]): void {
    const peer = this.#peers.get(id);
    if (peer === undefined) return;
    for (const load of loads) {
      peer.work.set(workKeyOf(load), load);
      this.#noteDemand(peer, load);
    }
  }

  /** Forgets those that are silent, and those that `isLiving` denies. */
  prune(isLiving: (id: string) => boolean, nowMs: number): void {
    for (const { id, heardAtMs, work } of this.#peers.values()) {
      if (isLiving(id) && nowMs - heardAtMs <= SILENT_MS) continue;
      this.#peers.delete(id);
      for (const key of work.keys()) this.#dropDemand(key, id);
    }
  }

  wasHeardSince(id: string, sinceMs: number): boolean {
    return (this.#peers.get(id)?.heardSinceMs ?? Infinity) <= sinceMs;
  }

  demands(): readonly Demand[] {
    return [...this.#demands.values()];
  }

  /** The sum over the peers but `exceptId`. */
  sumOf(key: string, exceptId?: string): { readonly pressing: number; readonly slots: number } {
    const sum = { pressing: 0, slots: 0 };
    for (const { id, work } of this.#peers.values()) {
      const load = work.get(key);
      if (load === undefined || id === exceptId) continue;
      sum.pressing += load.pressing;
      sum.slots += load.slots;
    }
    return sum;
  }

  /** What the peers have for a kind of work. Of a kind that waits nowhere, nobody says. */
  elsewhere(key: string): Elsewhere {
    const running = [...this.#peers.values()].filter(({ work }) => (work.get(key)?.slots ?? 0) > 0);
    const free = running.reduce((sum, { freeSlots }) => sum + freeSlots, 0);
    return { peers: this.#peers.size, running: running.length, slots: this.sumOf(key).slots, free };
  }

  /** Some peer has Islands that run a kind of work, or may have some: of a kind that waits nowhere, nobody says. */
  mayRun(key: string): boolean {
    return [...this.#peers.values()].some(({ islands, work }) => (work.get(key)?.slots ?? islands) > 0);
  }

  /** Waiting jobs of all peers by Cargo, as far as they told of them. */
  waitingBySlug(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { kind, key, peers } of this.#demands.values()) {
      const jobs = [...peers.values()].reduce((sum, { work }) => sum + (work.get(key)?.jobs ?? 0), 0);
      counts.set(kind.slug, (counts.get(kind.slug) ?? 0) + jobs);
    }
    return counts;
  }

  #noteDemand(peer: PeerLoad, load: WorkLoad): void {
    const key = workKeyOf(load);
    if (load.jobs === 0) {
      this.#dropDemand(key, peer.id);
      return;
    }
    const demand = this.#demands.get(key) ?? { key, kind: workKindOf(load), peers: new Map() };
    demand.peers.set(peer.id, peer);
    this.#demands.set(key, demand);
  }

  #dropDemand(key: string, id: string): void {
    const demand = this.#demands.get(key);
    demand?.peers.delete(id);
    if (demand?.peers.size === 0) this.#demands.delete(key);
  }
}
