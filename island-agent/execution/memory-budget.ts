import type { Clock } from "../../shared/clock.ts";
import type { MemoryUse } from "../runtimes/runtime.ts";
import { WaitQueue } from "../../shared/async/wait-queue.ts";

/** A Cargo that takes memory. */
export interface Occupant {
  /** Estimate until the Cargo is loaded, then the most recent measurement. */
  readonly memory: MemoryUse;
  /** True when it is loaded, used by no job, and not being unloaded. */
  readonly isIdle: boolean;
  /** True while it is being unloaded. `leave` is called once its memory is free. */
  readonly isLeaving: boolean;
  /** Order of use; higher is later. */
  readonly lastUse: number;
  /** Starts the unload of an idle occupant. */
  unload(): void;
}

interface WaitingCargo {
  readonly occupant: Occupant;
  readonly sinceMs: number;
}

/**
 * Wait after which a Cargo goes before new jobs of loaded Cargos. Otherwise a steady stream of such jobs would block
 * the Cargo forever.
 */
const MAX_QUEUE_WAIT_MS = 10_000;

const NOTHING: MemoryUse = { ramBytes: 0, vramBytes: 0 };

/**
 * Shares the RAM and VRAM within the owner's caps among Cargos. Cargos that do not fit wait in order of arrival. Idle
 * Cargos are unloaded for them, least recently used first. A Cargo that a job uses is never unloaded.
 */
export class MemoryBudget {
  #caps: MemoryUse;
  readonly #clock: Clock;
  /** Cargos from the start of their load to the end of their disposal. */
  readonly #occupants = new Set<Occupant>();
  readonly #queue = new WaitQueue<WaitingCargo>();

  constructor(caps: MemoryUse, clock: Clock) {
    this.#caps = caps;
    this.#clock = clock;
  }

  /** Sets the caps. A Cargo that a job uses stays loaded even above them. */
  setCaps(caps: MemoryUse): void {
    this.#caps = caps;
    this.arrange();
  }

  /** Returns the memory of all Cargos that load, are loaded or are being unloaded. */
  #taken(): MemoryUse {
    return sumOf([...this.#occupants]);
  }

  /** Returns whether the occupant's memory is counted. */
  holds(occupant: Occupant): boolean {
    return this.#occupants.has(occupant);
  }

  /** Waits until the occupant fits, then counts its memory. Rejects with `signal.reason`. */
  async enter(occupant: Occupant, signal: AbortSignal): Promise<void> {
    const admission = this.#queue.wait({ occupant, sinceMs: this.#clock.monotonicMs() }, signal);
    this.arrange();
    await admission;
  }

  /** Removes an occupant whose memory is free again, or that never entered. */
  leave(occupant: Occupant): void {
    this.#occupants.delete(occupant);
    this.arrange();
  }

  /**
   * Admits waiting occupants that fit, in order. Unloads idle Cargos if that makes the first in the queue fit, and
   * while the total is above the caps. Call it when an occupant became idle or its memory was measured again.
   */
  arrange(): void {
    for (let first = this.#queue.first; first !== undefined; first = this.#queue.first) {
      const missing = this.#missingFor(first.occupant.memory);
      if (!isSome(missing)) {
        this.#occupants.add(first.occupant);
        this.#queue.admitFirst();
        continue;
      }
      this.#unloadIdle(missing, "all or nothing");
      break;
    }
    this.#unloadIdle(this.#missingFor(NOTHING), "best effort");
  }

  /** Returns the first Cargo to unload when the machine runs out of RAM. */
  leastRecentlyUsedIdle(): Occupant | undefined {
    return this.#idle()[0];
  }

  /**
   * Whether the first Cargo in the queue has waited {@link MAX_QUEUE_WAIT_MS}. Then new jobs of loaded Cargos must
   * wait.
   */
  get isOverdue(): boolean {
    const { first } = this.#queue;
    return first !== undefined && this.#clock.monotonicMs() - first.sinceMs >= MAX_QUEUE_WAIT_MS;
  }

  /** Resolves when the first Cargo in the queue is admitted or gives up. */
  changed(): Promise<void> {
    return this.#queue.changed();
  }

  #idle(): Occupant[] {
    return [...this.#occupants].filter(({ isIdle }) => isIdle).sort((a, b) => a.lastUse - b.lastUse);
  }

  #missingFor(need: MemoryUse): MemoryUse {
    const taken = this.#taken();
    return {
      ramBytes: Math.max(0, taken.ramBytes + need.ramBytes - this.#caps.ramBytes),
      vramBytes: Math.max(0, taken.vramBytes + need.vramBytes - this.#caps.vramBytes),
    };
  }

  /** Unloads the fewest idle Cargos that free `missing` bytes, counting those that are already being unloaded. */
  #unloadIdle(missing: MemoryUse, mode: "all or nothing" | "best effort"): void {
    if (!isSome(missing)) return;
    let left = subtract(missing, sumOf([...this.#occupants].filter(({ isLeaving }) => isLeaving)));
    const chosen: Occupant[] = [];
    for (const occupant of this.#idle()) {
      if (!isSome(left)) break;
      const { ramBytes, vramBytes } = occupant.memory;
      const helps = (left.ramBytes > 0 && ramBytes > 0) || (left.vramBytes > 0 && vramBytes > 0);
      if (!helps) continue;
      chosen.push(occupant);
      left = subtract(left, occupant.memory);
    }
    if (isSome(left) && mode === "all or nothing") return;
    for (const occupant of chosen) occupant.unload();
  }
}

function isSome({ ramBytes, vramBytes }: MemoryUse): boolean {
  return ramBytes > 0 || vramBytes > 0;
}

function subtract(a: MemoryUse, b: MemoryUse): MemoryUse {
  return { ramBytes: Math.max(0, a.ramBytes - b.ramBytes), vramBytes: Math.max(0, a.vramBytes - b.vramBytes) };
}

function sumOf(occupants: readonly Occupant[]): MemoryUse {
  return occupants.reduce(
    (sum, { memory }) => ({
      ramBytes: sum.ramBytes + memory.ramBytes,
      vramBytes: sum.vramBytes + memory.vramBytes,
    }),
    NOTHING,
  );
}
