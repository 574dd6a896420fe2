import type { WorkKind } from "./events.ts";
import type { QueuedJob } from "./job-queue.ts";

/** An Island of another coordinator with free slots. */
export interface OfferedIsland {
  readonly id: string;
  readonly accountId: string;
  /** Number of free slots, at least 1. */
  readonly slots: number;
  /** Indices in the offer's `kinds` of the work that the Island can start now. */
  readonly serves: readonly number[];
}

/** Slots that are free at another coordinator. */
export interface SlotOffer {
  readonly kinds: readonly WorkKind[];
  readonly islands: readonly OfferedIsland[];
}

/** Returns the unique key of a kind of work. Slugs, ids and names of features have no spaces. */
export function workKeyOf({ slug, onlyIslandsOf, features = [] }: WorkKind): string {
  if (features.length > 0) return `${slug} ${onlyIslandsOf ?? ""} ${features.join(" ")}`;
  return onlyIslandsOf === null ? slug : `${slug} ${onlyIslandsOf}`;
}

/** Returns the fields that define a kind of work, without other fields of the argument. */
export function workKindOf({ slug, onlyIslandsOf, features }: WorkKind): WorkKind {
  return features === undefined || features.length === 0 ? { slug, onlyIslandsOf } : { slug, onlyIslandsOf, features };
}

/** Assigns the slots of an offer to jobs one by one, never to more jobs than can start. */
export class OfferedSlots {
  /** Islands by kind; those that serve the fewest kinds come first. */
  readonly #islandsOf = new Map<string, OfferedIsland[]>();
  readonly #free = new Map<OfferedIsland, number>();

  constructor({ kinds, islands }: SlotOffer) {
    for (const island of islands.toSorted((a, b) => a.serves.length - b.serves.length)) {
      this.#free.set(island, island.slots);
      for (const index of island.serves) {
        const kind = kinds[index];
        if (kind === undefined) continue;
        const candidates = this.#islandsOf.get(workKeyOf(kind)) ?? [];
        candidates.push(island);
        this.#islandsOf.set(workKeyOf(kind), candidates);
      }
    }
  }

  hasSlotFor(kind: WorkKind): boolean {
    return this.#freeFor(kind).length > 0;
  }

  /**
   * Takes a slot for the job. Returns false if the job avoids all Islands with free slots.
   * @param mayBeAvoided True if the job may use an Island that it avoids when no other has a free slot.
   */
  take(job: Pick<QueuedJob, "kind" | "avoidIslands" | "avoidAccounts">, mayBeAvoided: boolean): boolean {
    const free = this.#freeFor(job.kind);
    const isAvoided = ({ id, accountId }: OfferedIsland): boolean =>
      job.avoidIslands.includes(id) || job.avoidAccounts?.has(accountId) === true;
    const island = free.find((each) => !isAvoided(each)) ?? (mayBeAvoided ? free[0] : undefined);
    if (island === undefined) return false;
    this.#free.set(island, (this.#free.get(island) ?? 0) - 1);
    return true;
  }

  #freeFor(kind: WorkKind): OfferedIsland[] {
    const key = workKeyOf(kind);
    const free = (this.#islandsOf.get(key) ?? []).filter((island) => (this.#free.get(island) ?? 0) > 0);
    this.#islandsOf.set(key, free);
    return free;
  }
}
