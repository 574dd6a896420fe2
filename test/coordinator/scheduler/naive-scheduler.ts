import { expect } from "vitest";
import type { CargoManifest } from "../../../shared/cargo.ts";
import type { EngineModelReport } from "../../../shared/protocol/from-island.ts";
import { engineModelFor, fits } from "../../../coordinator/scheduler/fit.ts";
import { chargeOf } from "../../../coordinator/scheduler/run-results.ts";
import type {
  SchedulerEffect,
  SchedulerEvent,
  SchedulerIsland,
  WaitingJob,
} from "../../../coordinator/scheduler/events.ts";
import { MINUTE_MS } from "./builders.ts";

interface NaiveUse {
  readonly job: WaitingJob;
  readonly sinceMs: number;
  readonly costs: readonly [number, number];
  /** Slot time by the job's tokens; null: the measured one is charged. */
  chargedMs: number | null;
  /** Key of the engine's model that runs the job. */
  readonly model: string | undefined;
}

interface NaiveIsland {
  info: SchedulerIsland;
  inUse: number;
  /** Slot uses by job. */
  readonly uses: Map<string, NaiveUse>;
  /** Slot uses of earlier attempts of jobs that the Island was assigned again. */
  readonly earlierUses: Map<string, NaiveUse>;
}

/** The position of a class, or of an account in its class. */
interface Sharer {
  tag: number;
  order: number;
  estimateMs: number;
  passedOver: number;
}

/** Returns the Island of which a slot is reserved for the job; null without a reservation. */
type HeldFor = (jobId: string) => string | null;

/**
 * A reference implementation of the scheduler's rules without indices, in which each query scans everything. It follows
 * the real scheduler's choice between Islands, and checks that each choice is allowed. It does not implement circuit
 * breakers, which have their own tests.
 */
export class NaiveScheduler {
  readonly waiting = new Map<string, WaitingJob>();
  readonly islands = new Map<string, NaiveIsland>();
  readonly #cargos: (slug: string) => CargoManifest | undefined;
  readonly #sharers = new Map<string, Sharer>();
  readonly #virtualMs = new Map<string, number>();
  #order = 0;
  #nowMs = 0;

  constructor(cargos: (slug: string) => CargoManifest | undefined) {
    this.#cargos = cargos;
  }

  /** Applies an event, and checks the effects that the real scheduler had. */
  step(
    event: SchedulerEvent,
    nowMs: number,
    effects: readonly SchedulerEffect[],
    heldBefore: HeldFor,
    heldAfter: HeldFor,
  ): void {
    this.#nowMs = nowMs;
    this.#adopt(event, effects);
    const started = new Set(effects.flatMap((effect) => (effect.kind === "assign" ? [effect.jobId] : [])));
    const mayStart = ({ id }: WaitingJob): boolean => started.has(id) || heldAfter(id) === null;
    for (const effect of effects) {
      if (effect.kind !== "assign") throw new Error(`unexpected effect ${effect.kind}`);
      const { jobId, islandId } = effect;
      const held = heldBefore(jobId) === islandId ? this.waiting.get(jobId) : undefined;
      const next = held === undefined ? this.#next(event, mayStart) : { job: held, islands: this.open(held) };
      const island = next?.islands.find(({ info }) => info.id === islandId);
      expect(next?.job.id, `the job that starts on ${islandId}`).toBe(jobId);
      if (next === undefined || island === undefined) throw new Error(`${jobId} must not start on ${islandId}`);
      this.#assign(next.job, island);
    }
    expect(this.#next(event, mayStart)?.job, "a job that must start now").toBeUndefined();
  }

  fitting({ slug, onlyIslandsOf, features }: WaitingJob): NaiveIsland[] {
    const cargo = this.#cargos(slug);
    if (cargo === undefined) return [];
    return [...this.islands.values()].filter(({ info }) => fits({ ...cargo, onlyIslandsOf, features }, info) === true);
  }

  /**
   * Returns the Islands with a free slot that the job may use. One that it avoids counts only if no other Island fits.
   */
  open(job: WaitingJob): NaiveIsland[] {
    const fitting = this.fitting(job);
    const others = fitting.filter(({ info }) => !job.avoidIslands.includes(info.id));
    return (others.length > 0 ? others : fitting).filter((island) => {
      const served = this.#servedOn(island, job);
      const uses = [...island.uses.values(), ...island.earlierUses.values()];
      const ofModel = uses.filter(({ model }) => model === served?.key).length;
      return island.inUse < island.info.slots && ofModel < this.slotsOf(island, job);
    });
  }

  /** Returns the number of slots of the Island for jobs of that kind, free or not. */
  slotsOf(island: NaiveIsland, job: WaitingJob): number {
    const served = this.#servedOn(island, job);
    const limit = served === undefined ? island.info.runtimeSlots : served.slots;
    return Math.min(island.info.slots, limit ?? Infinity);
  }

  #servedOn({ info }: NaiveIsland, { slug }: WaitingJob): EngineModelReport | undefined {
    const cargo = this.#cargos(slug);
    return cargo === undefined ? undefined : engineModelFor(cargo, info);
  }

  #adopt(event: SchedulerEvent, effects: readonly SchedulerEffect[]): void {
    switch (event.kind) {
      case "job_offered":
      case "job_waiting":
        // An offered job is ignored if it should wait for a faster Island.
        if (event.kind === "job_offered" && effects.length === 0) return;
        this.waiting.delete(event.job.id);
        this.#enter(event.job);
        this.waiting.set(event.job.id, event.job);
        return;
      case "job_gone":
        this.waiting.delete(event.jobId);
        return;
      case "island_up":
        this.#drop(event.island.id);
        this.islands.set(event.island.id, {
          info: event.island,
          inUse: event.busy,
          uses: new Map(),
          earlierUses: new Map(),
        });
        return;
      case "island_changed": {
        const island = this.islands.get(event.island.id);
        if (island !== undefined) island.info = event.island;
        return;
      }
      case "island_down":
        return this.#drop(event.islandId);
      case "slot_freed": {
        const island = this.islands.get(event.islandId);
        if (island === undefined) return;
        island.inUse = Math.max(0, island.inUse - 1);
        const use = island.uses.get(event.jobId);
        island.uses.delete(event.jobId);
        if (use !== undefined) this.#settle(use);
        return;
      }
      case "run_ended": {
        const use = this.islands.get(event.islandId)?.uses.get(event.jobId);
        if (use !== undefined && event.succeeded && event.tokens !== null) use.chargedMs = chargeOf(event.tokens);
        return;
      }
      // Events that `random-events.ts` does not generate for the comparison.
      case "job_stays":
      case "slot_superseded":
      case "failure":
      case "time_passed":
      case "cargo_changed":
      case "first_output":
      case "curves_read":
        return;
      default:
        event satisfies never;
    }
  }

  /** Returns the next job, and the Islands that it may use. The Island of the event is filled first. */
  #next(
    event: SchedulerEvent,
    mayStart: (job: WaitingJob) => boolean,
  ): { job: WaitingJob; islands: readonly NaiveIsland[] } | undefined {
    const open = [...this.waiting.values()].filter((job) => mayStart(job) && this.open(job).length > 0);
    const id = event.kind === "slot_freed" ? event.islandId : "island" in event ? event.island.id : undefined;
    const filled = id === undefined ? undefined : this.islands.get(id);
    const ofFilled = filled === undefined ? [] : open.filter((each) => this.open(each).includes(filled));
    const filling = this.#nextJob(ofFilled, filled?.info.loaded ?? []);
    if (filling !== undefined) return { job: filling, islands: this.open(filling) };
    const kinds = Map.groupBy(open, (job) => this.#kindOf(job));
    const [kind] = [...kinds.keys()].sort();
    const job = this.#first(kinds.get(kind ?? "") ?? []);
    return job === undefined ? undefined : { job, islands: this.open(job) };
  }

  #nextJob(jobs: readonly WaitingJob[], loaded: readonly string[]): WaitingJob | undefined {
    const [jobClass] = [...new Set(jobs.map((job) => job.jobClass))].sort((a, b) =>
      compare(this.#sharerOf(a), this.#sharerOf(b)),
    );
    const ofClass = jobs.filter((job) => job.jobClass === jobClass);
    const next = this.#first(ofClass);
    if (next === undefined || loaded.includes(next.slug)) return next;
    const inMemory = this.#first(ofClass.filter(({ slug }) => loaded.includes(slug)));
    const sharer = this.#sharerOf(accountOf(next));
    sharer.passedOver = inMemory !== undefined && sharer.passedOver < 1 ? sharer.passedOver + 1 : 0;
    return sharer.passedOver > 0 ? inMemory : next;
  }

  #kindOf({ jobClass, slug, onlyIslandsOf, features = [], avoidIslands }: WaitingJob): string {
    const avoided = avoidIslands.filter((id) => this.islands.has(id)).sort();
    return [jobClass, slug, onlyIslandsOf ?? "", features.join("+"), ...avoided].join(" ");
  }

  #first(jobs: readonly WaitingJob[]): WaitingJob | undefined {
    return jobs.toSorted((a, b) => {
      return (
        compare(this.#sharerOf(accountOf(a)), this.#sharerOf(accountOf(b))) ||
        dueOf(a) - dueOf(b) ||
        a.createdAtMs - b.createdAtMs ||
        (a.id < b.id ? -1 : 1)
      );
    })[0];
  }

  #assign(job: WaitingJob, island: NaiveIsland): void {
    const account = this.#sharerOf(accountOf(job));
    const classCost = this.#charge(job.jobClass, "all", 100, account.estimateMs);
    const costs = [classCost, this.#charge(accountOf(job), job.jobClass, job.share, account.estimateMs)] as const;
    this.waiting.delete(job.id);
    island.inUse += 1;
    const earlier = island.uses.get(job.id);
    if (earlier !== undefined) island.earlierUses.set(job.id, earlier);
    const model = this.#servedOn(island, job)?.key;
    island.uses.set(job.id, { job, sinceMs: this.#nowMs, costs, chargedMs: null, model });
  }

  #drop(islandId: string): void {
    const island = this.islands.get(islandId);
    for (const use of [...(island?.uses.values() ?? []), ...(island?.earlierUses.values() ?? [])]) {
      this.#settle({ ...use, chargedMs: null });
    }
    this.islands.delete(islandId);
  }

  #settle({ job, sinceMs, costs, chargedMs }: NaiveUse): void {
    const usedMs = this.#nowMs - sinceMs;
    const paidMs = chargedMs ?? usedMs;
    this.#correct(job.jobClass, "all", cost(usedMs, 100) - costs[0]);
    this.#correct(accountOf(job), job.jobClass, cost(paidMs, job.share) - costs[1]);
    const account = this.#sharerOf(accountOf(job));
    account.estimateMs += 0.2 * (paidMs - account.estimateMs);
  }

  #enter(job: WaitingJob): void {
    const waiting = [...this.waiting.values()];
    if (!waiting.some(({ jobClass }) => jobClass === job.jobClass)) this.#put(job.jobClass, "all", 0);
    if (!waiting.some((other) => accountOf(other) === accountOf(job))) this.#put(accountOf(job), job.jobClass, 0);
  }

  #charge(name: string, group: string, share: number, estimateMs: number): number {
    this.#virtualMs.set(group, Math.max(this.#virtualMs.get(group) ?? 0, this.#sharerOf(name).tag));
    const charged = cost(estimateMs, share);
    this.#sharerOf(name).tag = this.#virtualMs.get(group) ?? 0;
    this.#put(name, group, charged);
    return charged;
  }

  #correct(name: string, group: string, correction: number): void {
    if (correction !== 0) this.#put(name, group, correction);
  }

  #put(name: string, group: string, more: number): void {
    const sharer = this.#sharerOf(name);
    sharer.tag = Math.max(this.#virtualMs.get(group) ?? 0, sharer.tag + more);
    sharer.order = ++this.#order;
  }

  #sharerOf(name: string): Sharer {
    const sharer = this.#sharers.get(name) ?? { tag: 0, order: 0, estimateMs: 10_000, passedOver: 0 };
    this.#sharers.set(name, sharer);
    return sharer;
  }
}

function compare(a: Sharer, b: Sharer): number {
  return a.tag - b.tag || a.order - b.order;
}

function cost(ms: number, share: number): number {
  return Math.max(1, Math.round((ms * 100) / share));
}

function accountOf({ jobClass, accountId }: WaitingJob): string {
  return `${jobClass} ${accountId}`;
}

/** Returns when waiting raises the job to priority 100. */
function dueOf({ createdAtMs, priority, waitLimitMs }: WaitingJob): number {
  return createdAtMs + ((100 - priority) / 100) * Math.min(30 * MINUTE_MS, waitLimitMs / 2);
}
