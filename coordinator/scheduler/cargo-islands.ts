import { fits, MISFITS, type Misfit, type ScheduledCargo } from "./fit.ts";
import { IndexedHeap, type HeapItem } from "./indexed-heap.ts";
import { UNMEASURED } from "./island-performance.ts";
import type { OnlineIsland } from "./online-island.ts";
import { meritOf, modelPlaceOf, rankOf } from "./rank.ts";

/** The online Islands, counted by how they fit one Cargo. */
export interface Census {
  readonly online: number;
  /** Islands that do not fit, by the first reason. */
  readonly misfits: Readonly<Record<Misfit, number>>;
  readonly fitting: number;
  /** Fitting Islands that need no download. */
  readonly withModel: number;
  /** Progress of each fitting Island that fetches the model now: 0 to 1, null when unknown. */
  readonly downloads: readonly (number | null)[];
}

interface Entry extends HeapItem {
  readonly island: OnlineIsland;
  fit: true | Misfit;
  hasModel: boolean;
  merit: number;
  /** The rank it was last sorted by. Never worse than its rank now. */
  rank: number;
}

function ranksBefore(a: Entry, b: Entry): boolean {
  return a.rank === b.rank ? a.island.id < b.island.id : a.rank < b.rank;
}

function isReady({ fit, island }: Entry): boolean {
  return fit === true && island.freeSlots > 0;
}

function currentRank({ merit, island }: Entry): number {
  return rankOf(merit, island.load);
}

/** The online Islands for one Cargo: those that fit and have a free slot are sorted by rank, and all are counted. */
export class CargoIslands {
  readonly cargo: ScheduledCargo;
  readonly #entries = new Map<string, Entry>();
  readonly #ready = new IndexedHeap<Entry>(ranksBefore);
  readonly #misfits: Record<Misfit, number> = noMisfits();
  #withModel = 0;
  readonly #downloads = new Map<string, number | null>();

  constructor(cargo: ScheduledCargo, islands: Iterable<OnlineIsland>) {
    this.cargo = cargo;
    for (const island of islands) this.put(island);
  }

  /** Adds an Island, or updates one whose facts or measurements changed. */
  put(island: OnlineIsland): void {
    const entry = this.#entries.get(island.id) ?? newEntry(island);
    if (this.#entries.has(island.id)) this.#uncount(entry);
    const place = modelPlaceOf(this.cargo, island.info);
    entry.fit = fits(this.cargo, island.info);
    entry.hasModel = place !== "absent";
    entry.merit = meritOf(place, island.measures.get(this.cargo.slug) ?? UNMEASURED);
    this.#entries.set(island.id, entry);
    this.#count(entry);
    this.#order(entry);
  }

  /**
   * The Island has one more free slot. Nothing needs to be called for one less: such an entry is sorted when it reaches the front,
   * and often it has the slot back before that.
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

  /** The best ready Island outside of `avoid`, else the best one in `avoid`; undefined if no Island is ready. */
  best(avoid: readonly string[]): OnlineIsland | undefined {
    const avoided: Entry[] = [];
    let entry = this.#front();
    while (entry !== undefined && avoid.includes(entry.island.id)) {
      this.#ready.remove(entry);
      avoided.push(entry);
      entry = this.#front();
    }
    for (const back of avoided) this.#ready.push(back);
    return (entry ?? avoided[0])?.island;
  }

  census(): Census {
    const misfits = { ...this.#misfits };
    const online = this.#entries.size;
    const fitting = Object.values(misfits).reduce((rest, count) => rest - count, online);
    return { online, misfits, fitting, withModel: this.#withModel, downloads: [...this.#downloads.values()] };
  }

  /** The best Island with a free slot. Each change for the worse costs at most one move here. */
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
    if (entry.fit !== true) {
      this.#misfits[entry.fit] += 1;
    } else if (entry.hasModel) {
      this.#withModel += 1;
    } else {
      const download = info.downloads.find(({ slug }) => slug === this.cargo.slug);
      if (download !== undefined) this.#downloads.set(id, download.fraction);
    }
  }

  /** Takes back `#count()` of the entry as it stands. */
  #uncount(entry: Entry): void {
    if (entry.fit !== true) this.#misfits[entry.fit] -= 1;
    else if (entry.hasModel) this.#withModel -= 1;
    else this.#downloads.delete(entry.island.id);
  }
}

function newEntry(island: OnlineIsland): Entry {
  return { heapIndex: -1, island, fit: "runtime_missing", hasModel: false, merit: 0, rank: 0 };
}

function noMisfits(): Record<Misfit, number> {
  return Object.fromEntries(MISFITS.map((misfit) => [misfit, 0])) as Record<Misfit, number>;
}
