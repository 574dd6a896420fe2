/** Something that shares the time of slots with its peers: an account, or a class of jobs. */
export interface Sharer {
  /** Its weight. Twice the share gets twice the slot time while both wait. */
  share: number;
  /** Virtual time at which its next job starts, in ms of slot time at a share of {@link NEUTRAL_SHARE}; the lowest is next. */
  tag: number;
  /** Orders equal tags: who has the tag longer goes first. Unique among peers. */
  order: number;
}

export const NEUTRAL_SHARE = 100;

/** A sharer that has used nothing yet. */
export function newSharer(share: number): Sharer {
  return { share, tag: 0, order: 0 };
}

export function goesFirst(a: Sharer, b: Sharer): boolean {
  return a.tag === b.tag ? a.order < b.order : a.tag < b.tag;
}

/** What slot time costs a sharer in virtual time: a whole number, at least 1, so that no run is free. */
export function costOf({ share }: Pick<Sharer, "share">, slotMs: number): number {
  return Math.max(1, Math.round((slotMs * NEUTRAL_SHARE) / share));
}

/**
 * Start-time fair queueing: Goyal, Vin, Cheng, "Start-time Fair Queuing" (SIGCOMM 1996); for several slots at once and costs that are
 * known only afterwards, Jin, Chase, Kaur, "Interposed Proportional Sharing" (SIGMETRICS 2004). A start moves its sharer back by the
 * estimated cost, and the end corrects it. Virtual time is the highest tag of a start.
 *
 * No tag ever falls below the virtual time, and of equal tags the older goes first. So a sharer that begins to wait without debt (its tag
 * is not above the virtual time) sees each peer that waits then start at most one job before it, and no other peer any.
 */
export class FairShare {
  /** Where a sharer without debt begins. Only `charge` writes it. */
  virtualMs = 0;
  #order = 0;

  /** The sharer begins to wait. Time in which it did not wait gives it no credit. */
  enter(sharer: Sharer): void {
    this.#place(sharer, sharer.tag);
  }

  /** A job of the sharer starts. Returns the cost that is charged, for {@link settle}. */
  charge(sharer: Sharer, estimatedMs: number): number {
    this.virtualMs = Math.max(this.virtualMs, sharer.tag);
    const cost = costOf(sharer, estimatedMs);
    this.#place(sharer, this.virtualMs + cost);
    return cost;
  }

  /** The job ended after `usedMs`: the difference to what was charged is made good. */
  settle(sharer: Sharer, charged: number, usedMs: number): void {
    const correction = costOf(sharer, usedMs) - charged;
    if (correction !== 0) this.#place(sharer, sharer.tag + correction);
  }

  #place(sharer: Sharer, tag: number): void {
    sharer.tag = Math.max(this.virtualMs, tag);
    this.#order += 1;
    sharer.order = this.#order;
  }
}
