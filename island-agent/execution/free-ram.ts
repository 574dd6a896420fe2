import { abortable } from "../../shared/async/abortable.ts";
import { JobFailure } from "../../shared/errors.ts";
import { formatMibRoundedDown, formatMibRoundedUp } from "../../shared/format-bytes.ts";

export interface FreeRamOptions {
  readonly slug: string;
  /** What the load will take. */
  readonly needBytes: number;
  /** RAM of the machine that is free now; null when unknown. */
  readonly freeBytes: () => number | null;
  /** Begins to unload the least recently used idle Cargo, if there is one. */
  readonly unloadOne: () => void;
  /** Disposals under way; they never reject. */
  readonly leaving: ReadonlySet<Promise<void>>;
}

/**
 * Waits until the machine has as much free RAM as a load needs, and unloads idle Cargos one by one for it.
 * @throws {JobFailure} `out_of_memory`, retryable, when that is not enough; `signal.reason`.
 */
export async function waitForFreeRam(options: FreeRamOptions, signal: AbortSignal): Promise<void> {
  const { slug, needBytes, freeBytes, unloadOne, leaving } = options;
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
