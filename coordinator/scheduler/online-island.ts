import type { EngineModelReport } from "../../shared/protocol/from-island.ts";
import type { SchedulerIsland } from "./events.ts";
import type { IslandRecord } from "./island-record.ts";
import type { SlotUse } from "./job-classes.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import { loadOf } from "./rank.ts";

type Served = Pick<EngineModelReport, "key" | "slots"> | undefined;

/** A use of a slot. `model`: key of the engine's model that runs the job; undefined: a runtime runs it. */
type IslandUse = SlotUse & { readonly model: string | undefined };

export class OnlineIsland {
  readonly id: string;
  readonly record: IslandRecord;
  // Only the methods below write these fields.
  info: SchedulerIsland;
  /** `loadOf()` of the current facts. */
  load: number;
  #slotsInUse: number;
  /** Slots assigned in this session, by job; null before the first, because most Islands are idle. */
  #uses: Map<string, IslandUse> | null = null;
  /**
   * Slots of earlier attempts of jobs that were assigned to the Island again, until the Island registry frees the
   * slots.
   */
  #earlierUses: Map<string, IslandUse> | null = null;
  /** Number of uses by `model`; null before the first. */
  #usesOf: Map<string | undefined, number> | null = null;

  constructor(info: SchedulerIsland, slotsInUse: number, record: IslandRecord) {
    this.id = info.id;
    this.record = record;
    this.info = info;
    this.#slotsInUse = slotsInUse;
    this.load = loadOf(info, slotsInUse);
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

  get uses(): Iterable<SlotUse> {
    return [...(this.#uses?.values() ?? []), ...(this.#earlierUses?.values() ?? [])];
  }

  /** Returns the breaker that now blocks jobs of a Cargo on the Island: the Cargo's breaker, or the quarantine. */
  breakerFor(slug: string): CircuitBreaker | undefined {
    const { quarantine } = this.record;
    if (quarantine.blocks) return quarantine;
    const breaker = this.record.breakerOf(slug);
    return breaker?.blocks === true ? breaker : undefined;
  }

  change(info: SchedulerIsland): void {
    this.info = info;
    this.load = loadOf(info, this.#slotsInUse);
  }

  takeSlot(jobId: string, slug: string, slotUse: SlotUse, served: Served): void {
    const use = { ...slotUse, model: served?.key };
    const earlier = this.#uses?.get(jobId);
    if (earlier !== undefined) (this.#earlierUses ??= new Map<string, IslandUse>()).set(jobId, earlier);
    (this.#uses ??= new Map<string, IslandUse>()).set(jobId, use);
    this.#countUse(use, 1);
    this.#setSlotsInUse(this.#slotsInUse + 1);
    this.record.quarantine.assign(jobId);
    this.record.breakerOf(slug)?.assign(jobId);
  }

  /** Frees a slot. Returns the use to be settled; undefined for a slot that was taken before this session. */
  freeSlot(jobId: string, isEarlier: boolean): SlotUse | undefined {
    this.#setSlotsInUse(Math.max(0, this.#slotsInUse - 1));
    const uses = isEarlier ? this.#earlierUses : this.#uses;
    const use = uses?.get(jobId);
    uses?.delete(jobId);
    if (use !== undefined) this.#countUse(use, -1);
    return use;
  }

  #countUse({ model }: IslandUse, change: 1 | -1): void {
    this.#usesOf ??= new Map();
    const count = (this.#usesOf.get(model) ?? 0) + change;
    if (count === 0) this.#usesOf.delete(model);
    else this.#usesOf.set(model, count);
  }

  #setSlotsInUse(slots: number): void {
    this.#slotsInUse = slots;
    this.load = loadOf(this.info, slots);
  }
}
