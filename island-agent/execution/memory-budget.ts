import type { Clock } from "../../shared/clock.ts";
import type { MemoryUse } from "../runtimes/runtime.ts";
import { FifoQueue } from "../../shared/fifo-queue.ts";

/** A Cargo as its memory is concerned. */
export interface Occupant {
  /** Estimated before it is loaded, then as measured last. */
  readonly memory: MemoryUse;
  /** Loaded, used by no job, and not leaving yet. */
  readonly isIdle: boolean;
  /** It was told to go and will call `leave` when its memory is given back. */
  readonly isLeaving: boolean;
  /** Order of use, higher is later. */
  readonly lastUse: number;
  /** Tells an idle one to go. */
  unload(): void;
}

interface RoomWait {
  readonly occupant: Occupant;
  readonly sinceMs: number;
}

/**
 * A Cargo that has waited for room so long goes before new jobs of the Cargos in memory: these would otherwise keep theirs
 * busy, and it out, for ever.
 */
const ROOM_PATIENCE_MS = 10_000;

const NOTHING: MemoryUse = { ramBytes: 0, vramBytes: 0 };

/**
 * RAM and VRAM that Cargos share, within the owner's caps. What does not fit waits, first come first served, until idle
 * Cargos can make room, least recently used first; nothing that a job uses is unloaded.
 */
export class MemoryBudget {
  /** Most that all Cargos together may take. */
  readonly caps: MemoryUse;
  readonly #clock: Clock;
  /** From the start of a load to the end of the disposal. */
  readonly #occupants = new Set<Occupant>();
  readonly #line = new FifoQueue<RoomWait>();

  constructor(caps: MemoryUse, clock: Clock) {
    this.caps = caps;
    this.#clock = clock;
  }

  /** Taken now, by what loads, is loaded or leaves. */
  taken(): MemoryUse {
    return sumOf([...this.#occupants]);
  }

  /** Resolves when the occupant's memory is counted as its own. */
  async enter(occupant: Occupant, signal: AbortSignal): Promise<void> {
    const turn = this.#line.wait({ occupant, sinceMs: this.#clock.monotonicMs() }, signal);
    this.arrange();
    await turn;
  }

  /** The occupant's memory is given back, or it never came in. */
  leave(occupant: Occupant): void {
    this.#occupants.delete(occupant);
    this.arrange();
  }

  /**
   * To be called when an occupant became idle or was measured anew. Lets in whoever fits, in order, unloads idle Cargos where
   * that makes the first one fit, and anyhow until all is below the caps again or nothing idle is left.
   */
  arrange(): void {
    for (let first = this.#line.first; first !== undefined; first = this.#line.first) {
      const missing = this.#missingFor(first.occupant.memory);
      if (!isSome(missing)) {
        this.#occupants.add(first.occupant);
        this.#line.admitFirst();
        continue;
      }
      this.#unloadIdle(missing, "only if enough");
      break;
    }
    this.#unloadIdle(this.#missingFor(NOTHING), "as far as it goes");
  }

  /** Whom to unload first when the machine itself runs short. */
  leastRecentlyUsedIdle(): Occupant | undefined {
    return this.#idle()[0];
  }

  /** Whether someone has waited so long that jobs of other Cargos must let it go first. */
  get isOverdue(): boolean {
    const { first } = this.#line;
    return first !== undefined && this.#clock.monotonicMs() - first.sinceMs >= ROOM_PATIENCE_MS;
  }

  /** Resolves when the next one is let in or gives up. */
  moved(): Promise<void> {
    return this.#line.changed();
  }

  #idle(): Occupant[] {
    return [...this.#occupants].filter(({ isIdle }) => isIdle).sort((a, b) => a.lastUse - b.lastUse);
  }

  #missingFor(need: MemoryUse): MemoryUse {
    const taken = this.taken();
    return {
      ramBytes: Math.max(0, taken.ramBytes + need.ramBytes - this.caps.ramBytes),
      vramBytes: Math.max(0, taken.vramBytes + need.vramBytes - this.caps.vramBytes),
    };
  }

  /** Unloads as few as give `missing` back, with those that are leaving already. */
  #unloadIdle(missing: MemoryUse, mode: "only if enough" | "as far as it goes"): void {
    if (!isSome(missing)) return;
    let left = less(missing, sumOf([...this.#occupants].filter(({ isLeaving }) => isLeaving)));
    const chosen: Occupant[] = [];
    for (const occupant of this.#idle()) {
      if (!isSome(left)) break;
      const { ramBytes, vramBytes } = occupant.memory;
      const helps = (left.ramBytes > 0 && ramBytes > 0) || (left.vramBytes > 0 && vramBytes > 0);
      if (!helps) continue;
      chosen.push(occupant);
      left = less(left, occupant.memory);
    }
    if (isSome(left) && mode === "only if enough") return;
    for (const occupant of chosen) occupant.unload();
  }
}

function isSome({ ramBytes, vramBytes }: MemoryUse): boolean {
  return ramBytes > 0 || vramBytes > 0;
}

function less(a: MemoryUse, b: MemoryUse): MemoryUse {
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
