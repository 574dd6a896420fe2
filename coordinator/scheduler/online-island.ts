import type { EngineModelReport } from "../../shared/protocol/from-island.ts";
import type { SchedulerIsland } from "./events.ts";
import type { IslandRecord } from "./island-record.ts";
import type { SlotUse } from "./job-classes.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import type { Work } from "./expected-cost.ts";
import type { AssumedSpeed } from "./speed-curve.ts";

type Served = Pick<EngineModelReport, "key" | "slots"> | undefined;

/** A job that was assigned, as its Island is expected to run it. */
export interface Run {
  readonly slug: string;
  readonly work: Work;
  readonly assumed: AssumedSpeed;
  /** Expected ms until the model is in memory; 0 if it is. */
  readonly loadMs: number;
  /** False if an earlier job had caused the load already. */
  readonly beganLoad: boolean;
  /** Input that the Island reads until the first output of the job, including earlier jobs; and the input of this job. */
  readonly readInput: number;
  readonly ownInput: number;
  readonly beganMs: number;
  readonly expectedMs: number;
  /** Value of `OnlineIsland.jobMs()` at the start. */
  readonly beganJobMs: number;
  /** Value of `OnlineIsland.jobMs()` at the first output; null before it. */
  readonly firstOutput: { readonly atMs: number; readonly jobMs: number } | null;
  /** Slot time that is charged in place of the measured one; null: the measured one. */
  readonly chargedMs: number | null;
}

/** A use of a slot. `model`: key of the engine's model that runs the job; undefined: a runtime runs it. */
interface IslandUse {
  readonly slotUse: SlotUse;
  readonly model: string | undefined;
  run: Run;
}

/** A job that exceeds its expected time is expected to take at least this part of it longer. */
const MIN_REST = 0.25;

export class OnlineIsland {
  readonly id: string;
  readonly record: IslandRecord;
  // Only the methods below write these fields.
  info: SchedulerIsland;
  #slotsInUse: number;
  /** Sum over time of the number of running jobs, until {@link #countedMs}. */
  #jobMs = 0;
  #countedMs: number;
  /** Input of the running jobs that have no output yet. */
  unreadInput = 0;
  /** Times until which models are being loaded, by slug; null before the first load. */
  #loads: Map<string, number> | null = null;
  /** Slots assigned in this session, by job; null before the first, because most Islands are idle. */
  #uses: Map<string, IslandUse> | null = null;
  /**
   * Slots of earlier attempts of jobs that were assigned to the Island again, until the Island registry frees the
   * slots.
   */
  #earlierUses: Map<string, IslandUse> | null = null;
  /** Number of jobs by Cargo; null before the first. */
  #runsOf: Map<string, number> | null = null;
  /** Expected ms until the first slot is free, at a time; null after a change. */
  #firstRelease: { readonly atMs: number; readonly ms: number } | null = null;
  /** Number of uses by `model`; null before the first. */
  #usesOf: Map<string | undefined, number> | null = null;

  constructor(info: SchedulerIsland, slotsInUse: number, record: IslandRecord, nowMs: number) {
    this.id = info.id;
    this.record = record;
    this.info = info;
    this.#slotsInUse = slotsInUse;
    this.#countedMs = nowMs;
  }

  get slotsInUse(): number {
    return this.#slotsInUse;
  }

  /** Number of free slots; 0 if the Island has lowered its slots below those in use. */
  get freeSlots(): number {
    return Math.max(0, this.info.slots - this.#slotsInUse);
  }

  /** Returns the number of slots, free or not, for jobs on a model of an engine; undefined: on the runtimes. */
  slotsFor(served: Served): number {
    const limit = served === undefined ? this.info.runtimeSlots : served.slots;
    return Math.min(this.info.slots, limit ?? Infinity);
  }

  /** Returns the number of {@link slotsFor} that are free. */
  freeSlotsFor(served: Served): number {
    const rest = this.slotsFor(served) - (this.#usesOf?.get(served?.key) ?? 0);
    return Math.max(0, Math.min(this.freeSlots, rest));
  }

  get uses(): readonly IslandUse[] {
    return [...(this.#uses?.values() ?? []), ...(this.#earlierUses?.values() ?? [])];
  }

  runOf(jobId: string): Run | undefined {
    return this.#uses?.get(jobId)?.run;
  }

  /** Returns true if a job of the Cargo runs on the Island. */
  runs(slug: string): boolean {
    return this.#runsOf?.has(slug) === true;
  }

  /** Returns the sum over time of the number of running jobs. Its growth over a period gives their mean number. */
  jobMs(nowMs: number): number {
    this.#jobMs += this.#slotsInUse * (nowMs - this.#countedMs);
    this.#countedMs = nowMs;
    return this.#jobMs;
  }

  /** Returns the ms until the `nth` slot is expected to be free, from 1; Infinity if that is unknown. */
  releaseMs(nth: number, nowMs: number): number {
    if (nth > 1) return this.uses.map(({ run }) => restOf(run, nowMs)).sort((a, b) => a - b)[nth - 1] ?? Infinity;
    // The indices of all Cargos ask for the first slot at the same time, and nothing must be sorted for it.
    if (this.#firstRelease?.atMs !== nowMs) {
      let ms = Infinity;
      for (const { run } of this.uses) ms = Math.min(ms, restOf(run, nowMs));
      this.#firstRelease = { atMs: nowMs, ms };
    }
    return this.#firstRelease.ms;
  }

  /** Returns the remaining ms of a load of the Cargo's model that an assigned job caused; null without such a load. */
  loadingMs(slug: string, nowMs: number): number | null {
    const untilMs = this.#loads?.get(slug);
    return untilMs === undefined || untilMs <= nowMs ? null : untilMs - nowMs;
  }

  noteFirstOutput(jobId: string, nowMs: number): void {
    const use = this.#uses?.get(jobId);
    if (use === undefined || use.run.firstOutput !== null) return;
    this.#countUnread(use.run, -1);
    use.run = { ...use.run, firstOutput: { atMs: nowMs, jobMs: this.jobMs(nowMs) } };
  }

  /** Sets the slot time that a job is charged. */
  charge(jobId: string, chargedMs: number): void {
    const use = this.#uses?.get(jobId);
    if (use !== undefined) use.run = { ...use.run, chargedMs };
  }

  /** Returns the breaker that now blocks jobs of a Cargo on the Island: the Cargo's breaker, or the quarantine. */
  breakerFor(slug: string): CircuitBreaker | undefined {
    const { quarantine } = this.record;
    if (quarantine.blocks) return quarantine;
    const breaker = this.record.breakerOf(slug);
    return breaker?.blocks === true ? breaker : undefined;
  }

  takeSlot(jobId: string, run: Run, slotUse: SlotUse, served: Served): void {
    const use = { slotUse, model: served?.key, run };
    const earlier = this.#uses?.get(jobId);
    if (earlier !== undefined) {
      this.#countUnread(earlier.run, -1);
      earlier.run = { ...earlier.run, ownInput: 0 };
      (this.#earlierUses ??= new Map<string, IslandUse>()).set(jobId, earlier);
    }
    (this.#uses ??= new Map<string, IslandUse>()).set(jobId, use);
    this.#countUse(use, 1);
    this.#countUnread(run, 1);
    if (run.loadMs > 0 && this.loadingMs(run.slug, run.beganMs) === null) {
      (this.#loads ??= new Map<string, number>()).set(run.slug, run.beganMs + run.loadMs);
    }
    this.#setSlotsInUse(this.#slotsInUse + 1, run.beganMs);
    this.record.quarantine.assign(jobId);
    this.record.breakerOf(run.slug)?.assign(jobId);
  }

  /** Frees a slot. Returns the use to be settled; undefined for a slot that was taken before this session. */
  freeSlot(jobId: string, isEarlier: boolean, nowMs: number): IslandUse | undefined {
    this.#setSlotsInUse(Math.max(0, this.#slotsInUse - 1), nowMs);
    const uses = isEarlier ? this.#earlierUses : this.#uses;
    const use = uses?.get(jobId);
    uses?.delete(jobId);
    if (use === undefined) return undefined;
    this.#countUse(use, -1);
    this.#countUnread(use.run, -1);
    return use;
  }

  /** Counts the input that the Island must still read for a run. */
  #countUnread({ firstOutput, ownInput }: Run, change: 1 | -1): void {
    if (firstOutput === null) this.unreadInput += change * ownInput;
  }

  #countUse({ model, run }: IslandUse, change: 1 | -1): void {
    this.#firstRelease = null;
    addTo((this.#usesOf ??= new Map()), model, change);
    addTo((this.#runsOf ??= new Map()), run.slug, change);
  }

  #setSlotsInUse(slots: number, nowMs: number): void {
    this.jobMs(nowMs);
    this.#slotsInUse = slots;
  }
}

function addTo<K>(counts: Map<K, number>, key: K, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

/** Returns the ms until a job is expected to end. */
function restOf({ beganMs, expectedMs }: Run, nowMs: number): number {
  return Math.max(beganMs + expectedMs - nowMs, MIN_REST * expectedMs);
}
