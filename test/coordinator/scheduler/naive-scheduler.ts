import type { CargoManifest } from "../../../shared/cargo.ts";
import { fits } from "../../../coordinator/scheduler/fit.ts";
import { UNMEASURED, withRun, type Measure } from "../../../coordinator/scheduler/island-performance.ts";
import { loadOf, meritOf, modelPlaceOf, rankOf } from "../../../coordinator/scheduler/rank.ts";
import type {
  SchedulerEffect,
  SchedulerEvent,
  SchedulerIsland,
  WaitingJob,
} from "../../../coordinator/scheduler/scheduler.ts";

interface NaiveIsland {
  info: SchedulerIsland;
  inUse: number;
}

/** The scheduler's rules with no index at all: each question is answered by looking at everything. */
export class NaiveScheduler {
  readonly waiting = new Map<string, WaitingJob>();
  readonly islands = new Map<string, NaiveIsland>();
  readonly #cargos: (slug: string) => CargoManifest | undefined;
  readonly #measures = new Map<string, Measure>();
  readonly #seenIslands = new Set<string>();
  /** Accounts in the order in which they arrived, then each that was served at the end. */
  readonly #newcomers: string[] = [];
  readonly #served: string[] = [];

  constructor(cargos: (slug: string) => CargoManifest | undefined) {
    this.#cargos = cargos;
  }

  step(event: SchedulerEvent): SchedulerEffect[] {
    this.#takeIn(event);
    const effects: SchedulerEffect[] = [];
    for (;;) {
      const pair = this.#nextPair();
      if (pair === undefined) return effects;
      this.#assign(pair.job, pair.island);
      effects.push({ kind: "assign", jobId: pair.job.id, islandId: pair.island.info.id });
    }
  }

  /** Jobs that could take a free slot, each with its best Island. */
  openPairs(): { job: WaitingJob; island: NaiveIsland }[] {
    return [...this.waiting.values()].flatMap((job) => {
      const island = this.#bestIsland(job);
      return island === undefined ? [] : [{ job, island }];
    });
  }

  fitting({ slug, onlyIslandsOf }: WaitingJob): NaiveIsland[] {
    const cargo = this.#cargos(slug);
    if (cargo === undefined) return [];
    return [...this.islands.values()].filter(({ info }) => fits({ ...cargo, onlyIslandsOf }, info) === true);
  }

  band({ priority, createdAtMs }: WaitingJob): number {
    return Math.floor((priority * 60_000 - createdAtMs) / 60_000);
  }

  place(accountId: string): number {
    const turn = this.#served.lastIndexOf(accountId);
    return turn === -1 ? this.#newcomers.indexOf(accountId) - this.#newcomers.length : turn;
  }

  /** The order in which jobs of equal chances would be served, were each account's turn taken into account. */
  compareJobs(a: WaitingJob, b: WaitingJob, loaded: readonly string[]): number {
    return (
      this.band(b) - this.band(a) ||
      Number(loaded.includes(b.slug)) - Number(loaded.includes(a.slug)) ||
      this.place(a.accountId) - this.place(b.accountId) ||
      a.createdAtMs - b.createdAtMs ||
      (a.id < b.id ? -1 : 1)
    );
  }

  #takeIn(event: SchedulerEvent): void {
    switch (event.kind) {
      case "job_waiting":
        this.waiting.set(event.job.id, event.job);
        if (!this.#newcomers.includes(event.job.accountId)) this.#newcomers.push(event.job.accountId);
        return;
      case "job_gone":
        this.waiting.delete(event.jobId);
        return;
      case "island_up":
        this.islands.set(event.island.id, { info: event.island, inUse: event.busy });
        this.#seenIslands.add(event.island.id);
        return;
      case "island_changed": {
        const island = this.islands.get(event.island.id);
        if (island !== undefined) island.info = event.island;
        return;
      }
      case "island_down":
        this.islands.delete(event.islandId);
        return;
      case "slot_freed": {
        const island = this.islands.get(event.islandId);
        if (island !== undefined) island.inUse = Math.max(0, island.inUse - 1);
        return;
      }
      case "measured": {
        const key = `${event.islandId} ${event.slug}`;
        if (!this.#seenIslands.has(event.islandId)) return;
        this.#measures.set(key, withRun(this.#measures.get(key) ?? UNMEASURED, event));
        return;
      }
      case "cargo_changed":
        return;
      default:
        event satisfies never;
    }
  }

  /** As one event frees one Island or brings one Cargo's jobs, the best job of all that can run is next. */
  #nextPair(): { job: WaitingJob; island: NaiveIsland } | undefined {
    const pairs = this.openPairs();
    const loaded = pairs[0]?.island.info.loaded ?? [];
    return pairs.sort((a, b) => this.compareJobs(a.job, b.job, loaded))[0];
  }

  #bestIsland(job: WaitingJob): NaiveIsland | undefined {
    const cargo = this.#cargos(job.slug);
    if (cargo === undefined) return undefined;
    const ready = this.fitting(job).filter(({ info, inUse }) => inUse < info.slots);
    const rank = ({ info, inUse }: NaiveIsland): number => {
      const measure = this.#measures.get(`${info.id} ${job.slug}`) ?? UNMEASURED;
      return rankOf(meritOf(modelPlaceOf(cargo, info), measure), loadOf(info, inUse));
    };
    const avoided = ({ info }: NaiveIsland): number => Number(job.avoidIslands.includes(info.id));
    return ready.sort((a, b) => avoided(a) - avoided(b) || rank(a) - rank(b) || (a.info.id < b.info.id ? -1 : 1))[0];
  }

  #assign(job: WaitingJob, island: NaiveIsland): void {
    this.waiting.delete(job.id);
    this.#served.push(job.accountId);
    island.inUse += 1;
  }
}
