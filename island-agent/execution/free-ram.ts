import { JobFailure } from "../../shared/errors.ts";
import { formatMibRoundedDown, formatMibRoundedUp } from "../../shared/format-bytes.ts";
import { abortable } from "../../shared/abortable.ts";

export interface RamSeeker {
  readonly slug: string;
  /** What the load will take. */
  readonly needBytes: number;
  /** Of the machine, now; null when unknown. */
  readonly freeBytes: () => number | null;
  /** Begins to unload the idle Cargo that was used least recently, if there is one. */
  readonly unloadOne: () => void;
  /** Disposals under way; they never reject. */
  readonly leaving: ReadonlySet<Promise<void>>;
}

/**
 * Waits until the machine has as much RAM as a load needs: other programs may hold what the owner's cap allows. Idle Cargos are
 * unloaded one by one for it. @throws {JobFailure} `out_of_memory`, retryable, when it is short without them; `signal.reason`.
 */
export async function seekFreeRam(seeker: RamSeeker, signal: AbortSignal): Promise<void> {
  const { slug, needBytes, freeBytes, unloadOne, leaving } = seeker;
  for (;;) {
    signal.throwIfAborted();
    const free = freeBytes();
    if (free === null || free >= needBytes) return;
    if (leaving.size === 0) unloadOne();
    if (leaving.size === 0) {
      const figures = `${slug} needs ${formatMibRoundedUp(needBytes)} of RAM, the machine has ${formatMibRoundedDown(free)} free now`;
      throw new JobFailure("out_of_memory", figures, { retryable: true });
    }
    await abortable(Promise.race(leaving), signal);
  }
}
