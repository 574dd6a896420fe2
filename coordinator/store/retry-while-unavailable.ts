import type { Clock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import { storageFaultBehind } from "./sqlite/engine/storage-fault.ts";

/** Time between two tries. */
const RETRY_MS = 1_000;

interface UntilStoredDeps {
  readonly clock: Pick<Clock, "sleep">;
  readonly log: Pick<Logger, "info" | "error">;
  /** Which storage, for the log. */
  readonly store?: string;
}

/**
 * Runs a step of the start, and again each second while it fails because nothing can be written: the disk is full, or it does not
 * write. The log says why. A coordinator that ended instead would be started again and again, until the system gives up.
 * @param step can be run again after it failed.
 */
export async function retryWhileReadOnly<T>(
  step: () => T | Promise<T>,
  { clock, log, store }: UntilStoredDeps,
): Promise<T> {
  for (let told: string | null = null; ;) {
    try {
      const result = await step();
      if (told !== null) log.info({}, "Storage can be written again: the start goes on");
      return result;
    } catch (error) {
      const because = storageFaultBehind(error);
      if (because === null) throw error;
      if (because !== told) log.error({ store, because }, "The start waits, because storage cannot be written");
      told = because;
    }
    await clock.sleep(RETRY_MS);
  }
}

/** Runs a read again each second while storage is away, which the store has told of. @param step of what cannot be refused to anybody. */
export async function retryWhileUnavailable<T>(step: () => Promise<T>, clock: Pick<Clock, "sleep">): Promise<T> {
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "storage_unavailable") throw error;
    }
    await clock.sleep(RETRY_MS);
  }
}
