import { LRUCache } from "lru-cache";
import type { CargoManifest } from "../../shared/cargo.ts";
import { AccountTurns } from "./account-turns.ts";
import { bandOf, isOlder, type QueuedJob } from "./band.ts";
import { CargoIslands } from "./cargo-islands.ts";
import { CargoQueue, keyOfKind } from "./cargo-queue.ts";
import type { SchedulerEffect, SchedulerEvent, SchedulerIsland, WaitingJob } from "./events.ts";
import { explainUnknownCargo, explainWait, type Waiting } from "./explain.ts";
import { fits } from "./fit.ts";
import { ModelHolders } from "./model-holders.ts";
import { OnlineIsland, recordRun, type IslandMeasures } from "./online-island.ts";

export type { SchedulerEffect, SchedulerEvent, SchedulerIsland, WaitingJob } from "./events.ts";
export type { Waiting } from "./explain.ts";

/** Cargos with an index of Islands. Above it, the least recently used one without waiting jobs is dropped. */
const MAX_INDEXED_CARGOS = 64;
/** Islands that are away and whose measurements are kept. */
const MAX_REMEMBERED_ISLANDS = 10_000;

/**
 * Decides which Island runs which job. Pure: the same events have the same effects. After every step no job waits while an Island
 * that fits it has a free slot. README.md has the rules.
 */
export class Scheduler {
  readonly #cargos: (slug: string) => CargoManifest | undefined;
  readonly #jobs = new Map<string, QueuedJob>();
  /** Queues with at least one job, by `keyOfKind()`. */
  readonly #queues = new Map<string, CargoQueue>();
  readonly #turns = new AccountTurns();
  readonly #islands = new Map<string, OnlineIsland>();
  readonly #holders = new ModelHolders();
  readonly #awayMeasures = new LRUCache<string, IslandMeasures>({ max: MAX_REMEMBERED_ISLANDS });
  /** For every queued kind of jobs whose Cargo the catalog has, and for some others; the least recently used first. */
  readonly #indices = new Map<string, CargoIslands>();

  /** @param cargos Looks up the catalog. When its answer for a slug changes, `cargo_changed` must follow. */
  constructor(cargos: (slug: string) => CargoManifest | undefined) {
    this.#cargos = cargos;
  }

  /** Handles one event. The present rules do not use the time: bands never change as it passes. */
  step(event: SchedulerEvent, _nowMs: number): SchedulerEffect[] {
    switch (event.kind) {
      case "job_waiting":
        return this.#enqueue(event.job);
      case "job_gone":
        this.#dequeue(event.jobId);
        return [];
      case "island_up":
        return this.#raiseIsland(event.island, event.busy);
      case "island_changed":
        return this.#changeIsland(event.island);
      case "island_down":
        this.#dropIsland(event.islandId);
        return [];
      case "slot_freed":
        return this.#freeSlot(event.islandId);
      case "measured":
        this.#record(event);
        return [];
      case "cargo_changed":
        return this.#changeCargo(event.slug);
      default:
        return event satisfies never;
    }
  }

  /** Why the job waits; null if it does not wait. The cost grows with the jobs of its Cargo and band, not with Islands. */
  explain(jobId: string): Waiting | null {
    const job = this.#jobs.get(jobId);
    const key = job === undefined ? "" : keyOfKind(job);
    const queue = this.#queues.get(key);
    if (job === undefined || queue === undefined) return null;
    const index = this.#indices.get(key);
    const cause = index === undefined ? explainUnknownCargo(job.slug) : explainWait(index.cargo, index.census());
    return { ...cause, position: queue.positionOf(job) };
  }

  /** True if an Island outside of `avoid` fits jobs of that kind, free or not. */
  hasIslandFor(
    { slug, onlyIslandsOf }: Pick<WaitingJob, "slug" | "onlyIslandsOf">,
    avoid: ReadonlySet<string>,
  ): boolean {
    const cargo = this.#cargos(slug);
    if (cargo === undefined) return false;
    for (const { id, info } of this.#islands.values()) {
      if (!avoid.has(id) && fits({ ...cargo, onlyIslandsOf }, info) === true) return true;
    }
    return false;
  }

  /** Waiting jobs by slug; only Cargos that have some. */
  queuedDemand(): ReadonlyMap<string, number> {
    const demand = new Map<string, number>();
    for (const { kind, size } of this.#queues.values()) demand.set(kind.slug, (demand.get(kind.slug) ?? 0) + size);
    return demand;
  }

  /** Number of online Islands, without `exceptId`, that have a model or image on disk, by its cache key. */
  holdersOf(exceptId: string): (cacheKey: string) => number {
    const own = new Set(this.#islands.get(exceptId)?.info.cachedModels);
    return (cacheKey) => this.#holders.count(cacheKey) - (own.has(cacheKey) ? 1 : 0);
  }

  get waitingCount(): number {
    return this.#jobs.size;
  }

  /** 0 for an Island that is not up. */
  freeSlots(islandId: string): number {
    return this.#islands.get(islandId)?.freeSlots ?? 0;
  }

  #enqueue(job: WaitingJob): SchedulerEffect[] {
    this.#dequeue(job.id);
    const { id, slug, onlyIslandsOf, createdAtMs, avoidIslands } = job;
    const key = keyOfKind(job);
    const turn = this.#turns.enter(job.accountId);
    const band = bandOf(job);
    const queued: QueuedJob = { heapIndex: -1, id, slug, onlyIslandsOf, band, createdAtMs, avoidIslands, turn };
    let queue = this.#queues.get(key);
    if (queue === undefined) {
      queue = new CargoQueue(job);
      this.#queues.set(key, queue);
    }
    queue.add(queued);
    this.#jobs.set(id, queued);
    return this.#serveQueue(queue);
  }

  #dequeue(jobId: string): void {
    const job = this.#jobs.get(jobId);
    if (job !== undefined) this.#unlist(job);
  }

  #unlist(job: QueuedJob): void {
    const key = keyOfKind(job);
    const queue = this.#queues.get(key);
    if (queue === undefined) throw new Error(`Job ${job.id} waits in no queue`);
    queue.remove(job);
    if (queue.size === 0) this.#queues.delete(key);
    this.#jobs.delete(job.id);
    this.#turns.leave(job.turn);
  }

  #raiseIsland(info: SchedulerIsland, busy: number): SchedulerEffect[] {
    this.#dropIsland(info.id);
    const island = new OnlineIsland(info, busy, this.#awayMeasures.get(info.id) ?? new Map());
    this.#awayMeasures.delete(info.id);
    this.#islands.set(info.id, island);
    this.#holders.replace([], info.cachedModels);
    for (const index of this.#indices.values()) index.put(island);
    return this.#fillIsland(island);
  }

  #changeIsland(info: SchedulerIsland): SchedulerEffect[] {
    const island = this.#islands.get(info.id);
    if (island === undefined) return [];
    this.#holders.replace(island.info.cachedModels, info.cachedModels);
    island.change(info);
    for (const index of this.#indices.values()) index.put(island);
    return this.#fillIsland(island);
  }

  #dropIsland(islandId: string): void {
    const island = this.#islands.get(islandId);
    if (island === undefined) return;
    this.#islands.delete(islandId);
    this.#holders.replace(island.info.cachedModels, []);
    this.#awayMeasures.set(islandId, island.measures);
    for (const index of this.#indices.values()) index.remove(island);
  }

  #freeSlot(islandId: string): SchedulerEffect[] {
    const island = this.#islands.get(islandId);
    if (island === undefined) return [];
    island.freeSlot();
    const effects = this.#fillIsland(island);
    // If the slot was filled again, the rank of the Island is as before.
    if (effects.length > 0) return effects;
    for (const index of this.#indices.values()) index.improve(island);
    return [];
  }

  #record(run: Extract<SchedulerEvent, { kind: "measured" }>): void {
    const island = this.#islands.get(run.islandId);
    const measures = island?.measures ?? this.#awayMeasures.peek(run.islandId);
    if (measures === undefined) return;
    recordRun(measures, run);
    if (island === undefined) return;
    for (const index of this.#indices.values()) if (index.cargo.slug === run.slug) index.put(island);
  }

  #changeCargo(slug: string): SchedulerEffect[] {
    for (const [key, { cargo }] of this.#indices) if (cargo.slug === slug) this.#indices.delete(key);
    const queues = [...this.#queues.values()].filter(({ kind }) => kind.slug === slug);
    return queues.flatMap((queue) => this.#serveQueue(queue));
  }

  /** Gives the free slots of any Island to the jobs of one kind. */
  #serveQueue(queue: CargoQueue): SchedulerEffect[] {
    const effects: SchedulerEffect[] = [];
    const index = this.#indexOf(queue);
    if (index === undefined) return effects;
    for (;;) {
      const job = queue.head();
      const island = job === undefined ? undefined : index.best(job.avoidIslands);
      if (job === undefined || island === undefined) return effects;
      effects.push(this.#assign(job, island));
    }
  }

  /** Gives the free slots of one Island to the jobs of any Cargo. */
  #fillIsland(island: OnlineIsland): SchedulerEffect[] {
    const effects: SchedulerEffect[] = [];
    while (island.freeSlots > 0) {
      const job = this.#bestJobFor(island);
      if (job === undefined) break;
      effects.push(this.#assign(job, island));
    }
    return effects;
  }

  /** The highest band; in it a Cargo that the Island has in memory; then the account whose turn it is. */
  #bestJobFor(island: OnlineIsland): QueuedJob | undefined {
    let best: QueuedJob | undefined;
    for (const [key, queue] of this.#queues) {
      const index = this.#indices.get(key);
      if (index === undefined || fits(index.cargo, island.info) !== true) continue;
      const job = queue.head();
      if (job !== undefined && (best === undefined || goesBefore(job, best, island.info.loaded))) best = job;
    }
    return best;
  }

  #assign(job: QueuedJob, island: OnlineIsland): SchedulerEffect {
    this.#turns.serve(job.turn);
    this.#unlist(job);
    island.takeSlot();
    return { kind: "assign", jobId: job.id, islandId: island.id };
  }

  /** The index of Islands for jobs of that kind, built on first use. Undefined if the catalog does not have the Cargo. */
  #indexOf({ kind }: CargoQueue): CargoIslands | undefined {
    const key = keyOfKind(kind);
    let index = this.#indices.get(key);
    if (index === undefined) {
      const cargo = this.#cargos(kind.slug);
      if (cargo === undefined) return undefined;
      index = new CargoIslands({ ...cargo, onlyIslandsOf: kind.onlyIslandsOf }, this.#islands.values());
      this.#dropOldIndex();
    }
    this.#indices.delete(key);
    this.#indices.set(key, index);
    return index;
  }

  #dropOldIndex(): void {
    if (this.#indices.size < MAX_INDEXED_CARGOS) return;
    for (const key of this.#indices.keys()) {
      if (this.#queues.has(key)) continue;
      this.#indices.delete(key);
      return;
    }
  }
}

function goesBefore(a: QueuedJob, b: QueuedJob, loaded: readonly string[]): boolean {
  if (a.band !== b.band) return a.band > b.band;
  const aIsLoaded = loaded.includes(a.slug);
  if (aIsLoaded !== loaded.includes(b.slug)) return aIsLoaded;
  if (a.turn !== b.turn) return a.turn.place < b.turn.place;
  return isOlder(a, b);
}
