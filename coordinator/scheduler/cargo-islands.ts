import type { EngineModelReport } from "../../shared/protocol/from-island.ts";
import { engineModelFor, fits, MISFITS, type Misfit, type ScheduledCargo } from "./fit.ts";
import { IndexedHeap, type HeapItem } from "./indexed-heap.ts";
import type { OnlineIsland } from "./online-island.ts";
import type { BreakerFailure } from "./circuit-breaker.ts";
import { meritOf, modelAvailabilityOf, rankOf } from "./rank.ts";

export interface IslandFitCounts {
  readonly online: number;
  /** How many Islands do not fit the Cargo, counted by the first check that they fail. */
  readonly misfits: Readonly<Record<Misfit, number>>;
  readonly fitting: number;
  readonly withModel: number;
  /** Progress of each fitting Island that is downloading the model: 0 to 1, or null if unknown. */
  readonly downloads: readonly (number | null)[];
  /** The last failure of each fitting Island whose circuit breaker is open. */
  readonly openBreakers: readonly BreakerFailure[];
}

interface Entry extends HeapItem {
  readonly island: OnlineIsland;
  fit: true | Misfit;
  /** The breaker that blocks jobs of the Cargo. `half_open`: the Island runs a probe and gets no other job. */
  breaker: "closed" | "half_open" | "open";
  hasModel: boolean;
  /** The engine's model that runs the Cargo; undefined: a runtime runs it. */
  served: EngineModelReport | undefined;
  /** All slots of the Island for the Cargo, free or not, at the time of counting. */
  slots: number;
  /** The part of the rank that depends on the Cargo; see `meritOf`. */
  merit: number;
  /** The rank at the last sort; never worse than the current rank. */
  rank: number;
}

function ranksBefore(a: Entry, b: Entry): boolean {
  return a.rank === b.rank ? a.island.id < b.island.id : a.rank < b.rank;
}

function isReady({ fit, breaker, island, served }: Entry): boolean {
  return fit === true && breaker === "closed" && island.freeSlotsFor(served) > 0;
}

/** Returns true if jobs may wait for the Island, even while it is busy. */
function isAvailable({ fit, breaker }: Entry): boolean {
  return fit === true && breaker !== "open";
}

function currentRank({ merit, island }: Entry): number {
  return rankOf(merit, island.load);
}

/**
 * Indexes the online Islands for one Cargo: sorts the Islands that fit and have a free slot by rank, and counts all.
 */
export class CargoIslands {
  readonly cargo: ScheduledCargo;
  readonly #entries = new Map<string, Entry>();
  readonly #ready = new IndexedHeap<Entry>(ranksBefore);
  readonly #misfits = Object.fromEntries(MISFITS.map((misfit) => [misfit, 0])) as Record<Misfit, number>;
  #withModel = 0;
  #available = 0;
  #availableSlots = 0;
  readonly #downloads = new Map<string, number | null>();

  constructor(cargo: ScheduledCargo, islands: Iterable<OnlineIsland>) {
    this.cargo = cargo;
    for (const island of islands) this.put(island);
  }

  /** Adds or updates an Island. Returns true if jobs now have one Island fewer to wait for. */
  put(island: OnlineIsland): boolean {
    const availableBefore = this.#available;
    const entry = this.#entries.get(island.id) ?? newEntry(island);
    if (this.#entries.has(island.id)) this.#uncount(entry);
    const availability = modelAvailabilityOf(this.cargo, island.info);
    entry.fit = fits(this.cargo, island.info);
    entry.hasModel = availability !== "absent";
    entry.served = engineModelFor(this.cargo, island.info);
    entry.slots = island.slotsFor(entry.served);
    entry.merit = meritOf(availability, island.record.measureOf(this.cargo.slug));
    const breaker = island.breakerFor(this.cargo.slug);
    entry.breaker = breaker === undefined ? "closed" : breaker.isOpen ? "open" : "half_open";
    this.#entries.set(island.id, entry);
    this.#count(entry);
    this.#order(entry);
    return this.#available < availableBefore;
  }

  /**
   * Records that the Island has one more free slot. Losing a slot needs no call: the entry is sorted again when it
   * reaches the front, and often has regained the slot before that.
   */
  improve(island: OnlineIsland): void {
    const entry = this.#entries.get(island.id);
    if (entry === undefined || !isReady(entry)) return;
    if (entry.heapIndex === -1 || currentRank(entry) < entry.rank) this.#order(entry);
  }

  remove(island: OnlineIsland): void {
    const entry = this.#entries.get(island.id);
    if (entry === undefined) return;
    this.#uncount(entry);
    this.#entries.delete(island.id);
    if (entry.heapIndex !== -1) this.#ready.remove(entry);
  }

  /**
   * Returns the best ready Island that is not in `avoid`. If no such Island fits, not even a busy one, returns the best
   * ready Island in `avoid`, except with `mustAvoid`.
   */
  best(avoid: readonly string[], mustAvoid = false): OnlineIsland | undefined {
    const avoided: Entry[] = [];
    let entry = this.#front();
    while (entry !== undefined && avoid.includes(entry.island.id)) {
      this.#ready.remove(entry);
      avoided.push(entry);
      entry = this.#front();
    }
    for (const back of avoided) this.#ready.push(back);
    if (entry === undefined && !mustAvoid && this.availableOutside(avoid) === 0) return avoided[0]?.island;
    return entry?.island;
  }

  /** Returns the best ready Islands outside of `except` until they have `slots` free slots together. */
  firstReady(slots: number, except: ReadonlySet<string>): OnlineIsland[] {
    const seen: Entry[] = [];
    const first: OnlineIsland[] = [];
    let free = 0;
    for (let entry = this.#front(); entry !== undefined && free < slots; entry = this.#front()) {
      this.#ready.remove(entry);
      seen.push(entry);
      if (except.has(entry.island.id)) continue;
      first.push(entry.island);
      free += entry.island.freeSlotsFor(entry.served);
    }
    for (const back of seen) this.#ready.push(back);
    return first;
  }

  /** Returns the engine's model that runs the Cargo on the Island; undefined: a runtime runs it. */
  servedOn(islandId: string): EngineModelReport | undefined {
    return this.#entries.get(islandId)?.served;
  }

  /** Returns true if {@link best} may return the Island. */
  mayServe(islandId: string, avoid: readonly string[], mustAvoid = false): boolean {
    const entry = this.#entries.get(islandId);
    if (entry === undefined || !isReady(entry)) return false;
    return !avoid.includes(islandId) || (!mustAvoid && this.availableOutside(avoid) === 0);
  }

  /** Counts the Islands outside of `avoid` that fit and have no open circuit breaker, busy or not. */
  availableOutside(avoid: readonly string[]): number {
    const avoided = avoid.filter((id) => {
      const entry = this.#entries.get(id);
      return entry !== undefined && isAvailable(entry);
    });
    return this.#available - avoided.length;
  }

  /** Number of slots, free or not, of the Islands that fit and have no open circuit breaker. */
  get availableSlots(): number {
    return this.#availableSlots;
  }

  fitCounts(): IslandFitCounts {
    const misfits = { ...this.#misfits };
    const online = this.#entries.size;
    const fitting = Object.values(misfits).reduce((rest, count) => rest - count, online);
    const downloads = [...this.#downloads.values()];
    return {
      online,
      misfits,
      fitting,
      withModel: this.#withModel,
      downloads,
      openBreakers: this.#openBreakers(fitting),
    };
  }

  #openBreakers(fitting: number): BreakerFailure[] {
    if (fitting === this.#available) return [];
    const blocked = [...this.#entries.values()].filter(({ fit, breaker }) => fit === true && breaker === "open");
    return blocked.flatMap(({ island }) => island.breakerFor(this.cargo.slug)?.last ?? []);
  }

  /** Returns the best ready entry, after moving entries whose rank got worse, each at most once. */
  #front(): Entry | undefined {
    for (;;) {
      const entry = this.#ready.peek();
      if (entry === undefined || (isReady(entry) && entry.rank === currentRank(entry))) return entry;
      this.#order(entry);
    }
  }

  #order(entry: Entry): void {
    const isListed = entry.heapIndex !== -1;
    if (!isReady(entry)) {
      if (isListed) this.#ready.remove(entry);
      return;
    }
    const rank = currentRank(entry);
    if (isListed && rank === entry.rank) return;
    entry.rank = rank;
    if (isListed) this.#ready.update(entry);
    else this.#ready.push(entry);
  }

  #count(entry: Entry): void {
    const { id, info } = entry.island;
    if (isAvailable(entry)) {
      this.#available += 1;
      this.#availableSlots += entry.slots;
    }
    if (entry.fit !== true) {
      this.#misfits[entry.fit] += 1;
    } else if (entry.hasModel) {
      this.#withModel += 1;
    } else {
      const download = info.downloads.find(({ slug }) => slug === this.cargo.slug);
      if (download !== undefined) this.#downloads.set(id, download.fraction);
    }
  }

  #uncount(entry: Entry): void {
    if (isAvailable(entry)) {
      this.#available -= 1;
      this.#availableSlots -= entry.slots;
    }
    if (entry.fit !== true) this.#misfits[entry.fit] -= 1;
    else if (entry.hasModel) this.#withModel -= 1;
    else this.#downloads.delete(entry.island.id);
  }
}

function newEntry(island: OnlineIsland): Entry {
  return {
    heapIndex: -1,
    island,
    fit: "runtime_missing",
    breaker: "closed",
    hasModel: false,
    served: undefined,
    slots: 0,
    merit: 0,
    rank: 0,
  };
}
