import type { EngineModelReport } from "../../shared/protocol/from-island.ts";
import type { CargoTraffic } from "./cargo-traffic.ts";
import type { BreakerFailure } from "./circuit-breaker.ts";
import type { CandidateCost } from "./events.ts";
import {
  assumedSpeed,
  expectedCost,
  expectedLoadMs,
  finishMs,
  hasTokens,
  modelAvailabilityOf,
  rttOf,
  type Work,
} from "./expected-cost.ts";
import { engineModelFor, fits, MISFITS, type Misfit, type ScheduledCargo } from "./fit.ts";
import type { HardwareSpeeds } from "./hardware-speeds.ts";
import { IndexedHeap, type HeapItem } from "./indexed-heap.ts";
import type { OnlineIsland } from "./online-island.ts";
import type { AssumedSpeed } from "./speed-curve.ts";

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

/** An Island's place in one order of {@link CargoIslands}. */
interface Place extends HeapItem {
  readonly entry: Entry;
}

interface Entry {
  readonly island: OnlineIsland;
  fit: true | Misfit;
  /** The breaker that blocks jobs of the Cargo. `half_open`: the Island runs a probe and gets no other job. */
  breaker: "closed" | "half_open" | "open";
  hasModel: boolean;
  /** The engine's model that runs the Cargo; undefined: a runtime runs it. */
  served: EngineModelReport | undefined;
  /** All slots of the Island for the Cargo, free or not, at the time of counting. */
  slots: number;
  assumed: AssumedSpeed;
  /** Expected ms until the model is in memory, without a load that a job has already caused. */
  loadMs: number;
  /** Number of the latest start on the Island among those of the Cargo; 0 before the first. */
  turn: number;
  /** Places in the orders; outside of a heap where the Island does not belong. */
  readonly ready: Place;
  readonly busy: Place;
  readonly trial: Place;
}

/** Number of the cheapest Islands that a decision compares: free ones, and ones that must become free first. */
const READY_CANDIDATES = 4;
const BUSY_CANDIDATES = 2;
/** Costs within this factor of each other are in one step. Within a step the Island with the oldest start is first. */
const STEP = Math.log(1.1);
/** Keys in one step: the number of starts of a Cargo stays below it. */
const KEYS_IN_STEP = 2 ** 32;
/** An Island without a job of the Cargo for this time may get one as a trial. */
const TRIAL_AFTER_MS = 600_000;

function comesFirst(a: Place, b: Place): boolean {
  return a.entry.island.id < b.entry.island.id;
}

function isServing({ fit, breaker }: Entry): boolean {
  return fit === true && breaker === "closed";
}

function isReady(entry: Entry): boolean {
  return isServing(entry) && entry.island.freeSlotsFor(entry.served) > 0;
}

/** Returns true if jobs may wait for the Island, even while it is busy. */
function isAvailable({ fit, breaker }: Entry): boolean {
  return fit === true && breaker !== "open";
}

/** What the indices of all Cargos share. */
export interface IndexFacts {
  readonly trafficOf: (slug: string) => CargoTraffic;
  readonly speeds: HardwareSpeeds;
}

/** Indexes the online Islands for one Cargo: orders those that fit by expected cost, and counts all. */
export class CargoIslands {
  readonly cargo: ScheduledCargo;
  /** True if runs of the Cargo have tokens. */
  readonly hasTokens: boolean;
  readonly traffic: CargoTraffic;
  readonly #facts: IndexFacts;
  readonly #entries = new Map<string, Entry>();
  /** Islands with a free slot, by the cost of the Cargo's mean job. */
  readonly #ready = new IndexedHeap<Place>(comesFirst);
  /** Islands without a free slot, by the time at which they would finish the Cargo's mean job. */
  readonly #busy = new IndexedHeap<Place>(comesFirst);
  /** Islands with a free slot and the model on disk that run no job of the Cargo, by their latest start. */
  readonly #trials = new IndexedHeap<Place>(comesFirst);
  readonly #misfits = Object.fromEntries(MISFITS.map((misfit) => [misfit, 0])) as Record<Misfit, number>;
  #withModel = 0;
  #available = 0;
  #availableSlots = 0;
  readonly #downloads = new Map<string, number | null>();
  #starts = 0;
  /** Means for which the Islands are ordered. */
  #orderedFor: { readonly input: number; readonly output: number };

  constructor(cargo: ScheduledCargo, islands: Iterable<OnlineIsland>, facts: IndexFacts, nowMs: number) {
    this.cargo = cargo;
    this.hasTokens = hasTokens(cargo);
    this.traffic = facts.trafficOf(cargo.slug);
    this.#facts = facts;
    this.#orderedFor = { ...this.traffic };
    for (const island of islands) this.put(island, nowMs);
  }

  /** Adds or updates an Island. Returns true if jobs now have one Island fewer to wait for. */
  put(island: OnlineIsland, nowMs: number): boolean {
    const availableBefore = this.#available;
    const known = this.#entries.get(island.id);
    const curve = island.record.curveOf(this.cargo.slug);
    // The assumed speed no longer matters once a run was measured.
    const assumed = known !== undefined && curve.isMeasured ? known.assumed : this.#assume(island);
    const entry = known ?? newEntry(island, assumed);
    if (known !== undefined) this.#uncount(entry);
    entry.fit = fits(this.cargo, island.info);
    entry.hasModel = modelAvailabilityOf(this.cargo, island.info) !== "absent";
    entry.served = engineModelFor(this.cargo, island.info);
    entry.slots = island.slotsFor(entry.served);
    entry.assumed = assumed;
    entry.loadMs = expectedLoadMs(this.cargo, island.info, curve.loadMs);
    const breaker = island.breakerFor(this.cargo.slug);
    entry.breaker = breaker === undefined ? "closed" : breaker.isOpen ? "open" : "half_open";
    this.#entries.set(island.id, entry);
    this.#count(entry);
    this.#order(entry, nowMs);
    return this.#available < availableBefore;
  }

  /** See `islandIndices`. The cost grows with the number of Islands. */
  assumeAgain(hardwareClass: string | undefined, nowMs: number): void {
    for (const { island } of this.#entries.values()) {
      if (island.info.hardwareClass === hardwareClass && !this.isMeasured(island)) this.put(island, nowMs);
    }
  }

  /** Sorts an Island again after it took or freed a slot. */
  reorder(island: OnlineIsland, nowMs: number): void {
    const entry = this.#entries.get(island.id);
    if (entry !== undefined) this.#order(entry, nowMs);
  }

  remove(island: OnlineIsland): void {
    const entry = this.#entries.get(island.id);
    if (entry === undefined) return;
    this.#uncount(entry);
    this.#entries.delete(island.id);
    move(this.#ready, entry.ready, null);
    move(this.#busy, entry.busy, null);
    move(this.#trials, entry.trial, null);
  }

  /**
   * Returns the Islands with a free slot that a decision compares: the cheapest for the Cargo's mean job, and those of
   * `also`. Islands in `avoid` are returned only if no other Island fits, not even a busy one, and never with
   * `mustAvoid`.
   */
  candidates(avoid: readonly string[], mustAvoid: boolean, also: readonly string[], nowMs: number): OnlineIsland[] {
    const { input, output } = this.#orderedFor;
    if (hasMoved(input, this.traffic.input) || hasMoved(output, this.traffic.output)) this.#orderAll(nowMs);
    const islands = this.#ready.first(READY_CANDIDATES + avoid.length).map(({ entry }) => entry.island);
    for (const id of also) {
      const entry = this.#entries.get(id);
      if (entry !== undefined && isReady(entry) && !islands.includes(entry.island)) islands.push(entry.island);
    }
    const others = avoid.length === 0 ? islands : islands.filter(({ id }) => !avoid.includes(id));
    const mayReturn = others.length === 0 && !mustAvoid && this.availableOutside(avoid) === 0;
    return mayReturn ? islands : others;
  }

  /** Returns the busy Islands that would finish the Cargo's mean job first. */
  busyCandidates(): OnlineIsland[] {
    return this.#busy.first(BUSY_CANDIDATES).map(({ entry }) => entry.island);
  }

  /** Returns the Island that had no job of the Cargo for longest; undefined if none is due for a trial. */
  dueForTrial(nowMs: number): OnlineIsland | undefined {
    const island = this.#trials.peek()?.entry.island;
    if (island === undefined) return undefined;
    return nowMs - island.record.curveOf(this.cargo.slug).startedAtMs < TRIAL_AFTER_MS ? undefined : island;
  }

  /** Records that a job of the Cargo starts on the Island. */
  noteStart(island: OnlineIsland, nowMs: number): void {
    this.#starts += 1;
    this.#entryOf(island).turn = this.#starts;
    island.record.ownCurveOf(this.cargo.slug).startedAtMs = nowMs;
  }

  /** Returns the expected cost of a job on an Island that fits; on a busy one from the time when a slot is free. */
  costOn(island: OnlineIsland, work: Work, nowMs: number): CandidateCost {
    const entry = this.#entryOf(island);
    return this.#costOf(entry, work, entry.busy.heapIndex !== -1, nowMs);
  }

  isMeasured({ record }: OnlineIsland): boolean {
    return record.curveOf(this.cargo.slug).isMeasured;
  }

  /** Returns true if neither the Island nor another of its hardware was measured. */
  isGuessed(island: OnlineIsland): boolean {
    return !this.isMeasured(island) && this.assumedOn(island).isGuess;
  }

  /** Returns the speed that is assumed before the Island's first run. */
  assumedOn(island: OnlineIsland): AssumedSpeed {
    return this.#entryOf(island).assumed;
  }

  /**
   * Returns the lowest cost of the Cargo's mean job on an Island with a free slot, except `exceptId`; null without such
   * an Island.
   */
  lowestCostMs(nowMs: number, exceptId?: string): number | null {
    const first = this.#ready.first(2).find(({ entry }) => entry.island.id !== exceptId);
    return first === undefined ? null : this.#costOf(first.entry, this.#meanWork, false, nowMs).costMs;
  }

  /** Returns the best Islands with free slots outside of `except` until they have `slots` free slots together. */
  firstReady(slots: number, except: ReadonlySet<string>): OnlineIsland[] {
    const first: OnlineIsland[] = [];
    let free = 0;
    for (const { entry } of this.#ready.first(slots + except.size)) {
      if (free >= slots || except.has(entry.island.id)) continue;
      first.push(entry.island);
      free += entry.island.freeSlotsFor(entry.served);
    }
    return first;
  }

  /** Returns the engine's model that runs the Cargo on the Island; undefined: a runtime runs it. */
  servedOn(islandId: string): EngineModelReport | undefined {
    return this.#entries.get(islandId)?.served;
  }

  /** Returns true if {@link candidates} may return the Island. */
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

  /** Orders all Islands again after the mean job changed. */
  #orderAll(nowMs: number): void {
    this.#orderedFor = { ...this.traffic };
    for (const entry of this.#entries.values()) this.#order(entry, nowMs);
  }

  #assume(island: OnlineIsland): AssumedSpeed {
    return assumedSpeed(this.cargo, island.info, this.#facts.speeds);
  }

  get #meanWork(): Work {
    return { input: this.traffic.input, cached: 0, output: this.hasTokens ? this.traffic.output : 0 };
  }

  #entryOf({ id }: OnlineIsland): Entry {
    const entry = this.#entries.get(id);
    if (entry === undefined) throw new Error(`Island ${id} is not in the index of ${this.cargo.slug}`);
    return entry;
  }

  #costOf({ island, assumed, loadMs }: Entry, work: Work, isBusy: boolean, nowMs: number): CandidateCost {
    const { slug } = this.cargo;
    const curve = island.record.curveOf(slug);
    const present = {
      isOnTrial: !curve.isMeasured && island.runs(slug),
      // The job whose slot is waited for no longer runs.
      runningJobs: island.slotsInUse - (isBusy ? 1 : 0),
      unreadInput: island.unreadInput,
      loadMs: loadMs === 0 ? 0 : (island.loadingMs(slug, nowMs) ?? loadMs),
      rttMs: rttOf(island.info),
    };
    return expectedCost(island.id, curve, assumed, work, present);
  }

  #order(entry: Entry, nowMs: number): void {
    const { island } = entry;
    const isOpen = isReady(entry);
    const isBusy = !isOpen && isServing(entry);
    const cost = isOpen || isBusy ? this.#costOf(entry, this.#meanWork, isBusy, nowMs) : null;
    move(this.#ready, entry.ready, isOpen && cost !== null ? keyOf(cost.costMs, entry.turn) : null);
    move(this.#busy, entry.busy, isBusy && cost !== null ? nowMs + island.releaseMs(1, nowMs) + finishMs(cost) : null);
    const mayTry = isOpen && entry.hasModel && !island.runs(this.cargo.slug);
    // An Island that has the model in memory is measured before one that must load it.
    const triedAtMs = Math.max(-1, island.record.curveOf(this.cargo.slug).startedAtMs) + (entry.loadMs > 0 ? 0.5 : 0);
    move(this.#trials, entry.trial, mayTry ? triedAtMs : null);
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

/** Returns true if a mean has doubled or halved. */
function hasMoved(before: number, now: number): boolean {
  return now > 2 * before || 2 * now < before;
}

function keyOf(costMs: number, turn: number): number {
  return Math.floor(Math.log(costMs) / STEP) * KEYS_IN_STEP + turn;
}

function newEntry(island: OnlineIsland, assumed: AssumedSpeed): Entry {
  const places = {} as { ready: Place; busy: Place; trial: Place };
  const entry: Entry = Object.assign(places, {
    island,
    fit: "runtime_missing" as const,
    breaker: "closed" as const,
    hasModel: false,
    served: undefined,
    slots: 0,
    assumed,
    loadMs: 0,
    turn: 0,
  });
  places.ready = { heapIndex: -1, entry };
  places.busy = { heapIndex: -1, entry };
  places.trial = { heapIndex: -1, entry };
  return entry;
}

/** Puts a place where its key belongs; null: outside of the heap. */
function move(heap: IndexedHeap<Place>, place: Place, key: number | null): void {
  const isListed = place.heapIndex !== -1;
  if (key === null) {
    if (isListed) heap.remove(place);
    return;
  }
  if (isListed) heap.update(place, key);
  else heap.push(place, key);
}
