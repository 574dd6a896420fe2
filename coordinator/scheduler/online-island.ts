import type { SchedulerIsland } from "./events.ts";
import type { IslandRecord } from "./island-record.ts";
import type { SlotUse } from "./job-classes.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import { loadOf } from "./rank.ts";

export class OnlineIsland {
  readonly id: string;
  readonly record: IslandRecord;
  // Only the methods below write these fields.
  info: SchedulerIsland;
  /** `loadOf()` of the current facts. */
  load: number;
  #slotsInUse: number;
  /** Slots assigned in this session, by job; null before the first, because most Islands are idle. */
  #uses: Map<string, SlotUse> | null = null;
  /**
   * Slots of earlier attempts of jobs that were assigned to the Island again, until the Island registry frees the
   * slots.
   */
  #earlierUses: Map<string, SlotUse> | null = null;

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

  takeSlot(jobId: string, slug: string, use: SlotUse): void {
    const earlier = this.#uses?.get(jobId);
    if (earlier !== undefined) (this.#earlierUses ??= new Map<string, SlotUse>()).set(jobId, earlier);
    (this.#uses ??= new Map<string, SlotUse>()).set(jobId, use);
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
    return use;
  }

  #setSlotsInUse(slots: number): void {
    this.#slotsInUse = slots;
    this.load = loadOf(this.info, slots);
  }
}
