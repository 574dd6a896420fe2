import type { SchedulerIsland } from "./events.ts";
import { UNMEASURED, withRun, type Measure } from "./island-performance.ts";
import { loadOf } from "./rank.ts";

/** Measurements of one Island, by slug. */
export type IslandMeasures = Map<string, Measure>;

/** Adds a run to the measurements. */
export function recordRun(
  measures: IslandMeasures,
  run: { readonly slug: string; readonly tokensPerSecond: number | null; readonly succeeded: boolean },
): void {
  measures.set(run.slug, withRun(measures.get(run.slug) ?? UNMEASURED, run));
}

/** An Island with a session, as the scheduler counts it. */
export class OnlineIsland {
  readonly id: string;
  readonly measures: IslandMeasures;
  #info: SchedulerIsland;
  #slotsInUse: number;
  /** `loadOf()` of the present facts. */
  #load: number;

  constructor(info: SchedulerIsland, slotsInUse: number, measures: IslandMeasures) {
    this.id = info.id;
    this.measures = measures;
    this.#info = info;
    this.#slotsInUse = slotsInUse;
    this.#load = loadOf(info, slotsInUse);
  }

  get info(): SchedulerIsland {
    return this.#info;
  }

  get load(): number {
    return this.#load;
  }

  /** 0 if the Island has lowered its slots below those in use. */
  get freeSlots(): number {
    return Math.max(0, this.#info.slots - this.#slotsInUse);
  }

  change(info: SchedulerIsland): void {
    this.#info = info;
    this.#load = loadOf(info, this.#slotsInUse);
  }

  takeSlot(): void {
    this.#setSlotsInUse(this.#slotsInUse + 1);
  }

  /** Freeing more than is in use changes nothing. */
  freeSlot(): void {
    this.#setSlotsInUse(Math.max(0, this.#slotsInUse - 1));
  }

  #setSlotsInUse(slots: number): void {
    this.#slotsInUse = slots;
    this.#load = loadOf(this.#info, slots);
  }
}
