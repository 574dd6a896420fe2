/** An account or a class of jobs that shares slot time with its peers. */
export interface Sharer {
  /** Weight: twice the share gets twice the slot time while both wait. */
  share: number;
  /** Virtual time of the next start, in ms of slot time at a share of {@link NEUTRAL_SHARE}. The lowest tag is next. */
  tag: number;
  /** Number of the tag's last change, unique among peers. Of equal tags the lowest order is next. */
  order: number;
}

/** The share at which 1 ms of slot time costs 1 ms of virtual time. */
export const NEUTRAL_SHARE = 100;

export function newSharer(share: number): Sharer {
  return { share, tag: 0, order: 0 };
}

export function goesFirst(a: Sharer, b: Sharer): boolean {
  return a.tag === b.tag ? a.order < b.order : a.tag < b.tag;
}

/** Returns the virtual time that slot time costs a sharer: a whole number, at least 1, so that no run is free. */
export function costOf({ share }: Pick<Sharer, "share">, slotMs: number): number {
  return Math.max(1, Math.round((slotMs * NEUTRAL_SHARE) / share));
}

/**
 * Start-time fair queueing: Goyal, Vin, Cheng, "Start-time Fair Queuing" (SIGCOMM 1996). For several slots and costs
 * that are known only afterwards: Jin, Chase, Kaur, "Interposed Proportional Sharing" (SIGMETRICS 2004). A start moves
 * its sharer back by the estimated cost, and the end of the job corrects the cost. Virtual time is the highest tag of a
 * start. No tag falls below the virtual time, and of equal tags the older is first. So when a sharer without debt (tag
 * not above the virtual time) starts to wait, each peer that already waits starts at most one job before it, and later
 * peers none.
 */
export class FairShare {
  /** Virtual time: the tag at which a sharer without debt starts to wait. Only `charge` writes it. */
  virtualMs = 0;
  #order = 0;

  /** Starts the wait of a sharer. Time without waiting jobs gives no credit. */
  enter(sharer: Sharer): void {
    this.#setTag(sharer, sharer.tag);
  }

  /** Charges a sharer for the start of a job. Returns the cost, for {@link settle}. */
  charge(sharer: Sharer, estimatedMs: number): number {
    this.virtualMs = Math.max(this.virtualMs, sharer.tag);
    const cost = costOf(sharer, estimatedMs);
    this.#setTag(sharer, this.virtualMs + cost);
    return cost;
  }

  /** Corrects the charge of a job that ended after `usedMs`. */
  settle(sharer: Sharer, charged: number, usedMs: number): void {
    const correction = costOf(sharer, usedMs) - charged;
    if (correction !== 0) this.#setTag(sharer, sharer.tag + correction);
  }

  #setTag(sharer: Sharer, tag: number): void {
    sharer.tag = Math.max(this.virtualMs, tag);
    this.#order += 1;
    sharer.order = this.#order;
  }
}
