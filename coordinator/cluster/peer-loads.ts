import { workKeyOf, type WorkKind } from "../scheduler/slot-offer.ts";
import type { WorkLoad } from "../scheduler/shared-work.ts";
import type { PeerStatus } from "./sharing-messages.ts";

/** A coordinator that said nothing for so long counts as away. */
const SILENT_MS = 3_000;

/** What another coordinator said of itself. */
export interface PeerLoad {
  readonly id: string;
  readonly freeSlots: number;
  readonly heardAtMs: number;
  /** By `workKeyOf()`. */
  readonly work: Map<string, WorkLoad>;
  /** Since when it has waiting jobs of a kind, by `workKeyOf()`. */
  readonly waitsSinceMs: ReadonlyMap<string, number>;
}

/** A kind of which jobs wait at other coordinators. */
export interface Demand {
  readonly key: string;
  readonly kind: WorkKind;
  /** Those where they wait. */
  readonly peers: readonly PeerLoad[];
}

/** What the other coordinators said of themselves last, as far as it is fresh. */
export class PeerLoads {
  readonly #peers = new Map<string, PeerLoad>();
  /** Null when it has to be gathered anew. */
  #demands: readonly Demand[] | null = null;

  get count(): number {
    return this.#peers.size;
  }

  all(): Iterable<PeerLoad> {
    return this.#peers.values();
  }

  hear({ id, freeSlots, work }: PeerStatus, nowMs: number): void {
    const before = this.#peers.get(id);
    const waiting = work.filter(({ jobs }) => jobs > 0).map(workKeyOf);
    const waitsSinceMs = new Map(waiting.map((key) => [key, before?.waitsSinceMs.get(key) ?? nowMs]));
    const byKey = new Map(work.map((load) => [workKeyOf(load), load]));
    this.#peers.set(id, { id, freeSlots, heardAtMs: nowMs, work: byKey, waitsSinceMs });
    this.#demands = null;
  }

  /** Newer figures of some kinds than the peer's last status. */
  correct(id: string, loads: readonly WorkLoad[]): void {
    const peer = this.#peers.get(id);
    for (const load of loads) peer?.work.set(workKeyOf(load), load);
    this.#demands = null;
  }

  /** Forgets those that are silent, and those that `isLiving` denies. */
  prune(isLiving: (id: string) => boolean, nowMs: number): void {
    for (const { id, heardAtMs } of this.#peers.values()) {
      if (isLiving(id) && nowMs - heardAtMs <= SILENT_MS) continue;
      this.#peers.delete(id);
      this.#demands = null;
    }
  }

  demands(): readonly Demand[] {
    return (this.#demands ??= this.#gather());
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

  #gather(): Demand[] {
    const demands = new Map<string, Demand & { readonly peers: PeerLoad[] }>();
    for (const peer of this.#peers.values()) {
      for (const [key, load] of peer.work) {
        if (load.jobs === 0) continue;
        const demand = demands.get(key) ?? { key, kind: kindOf(load), peers: [] };
        demand.peers.push(peer);
        demands.set(key, demand);
      }
    }
    return [...demands.values()];
  }
}

function kindOf({ slug, onlyIslandsOf }: WorkKind): WorkKind {
  return { slug, onlyIslandsOf };
}
