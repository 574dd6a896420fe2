import type { Clock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import { storageFaultBehind } from "./sqlite/engine/storage-fault.ts";

const RETRY_MS = 1_000;

/**
 * Runs a step of the start, and repeats it every second while storage is not writable, for example because the disk is
 * full. If the process exited instead, the service manager would restart it a few times and then stop.
 * @param options `store`: name of the storage in the log.
 */
export async function retryWhileReadOnly<T>(
  step: () => T | Promise<T>,
  options: {
    readonly clock: Pick<Clock, "sleep">;
    readonly log: Pick<Logger, "info" | "error">;
    readonly store?: string;
  },
): Promise<T> {
  const { clock, log, store } = options;
  for (let logged: string | null = null; ;) {
    try {
      const result = await step();
      if (logged !== null) log.info({}, "Storage is writable again; continuing the start");
      return result;
    } catch (error) {
      const reason = storageFaultBehind(error);
      if (reason === null) throw error;
      if (reason !== logged)
        log.error({ store, reason }, "Waiting until storage is writable before the coordinator starts");
      logged = reason;
    }
    await clock.sleep(RETRY_MS);
  }
}

/** Runs a read, and repeats it every second while storage is unavailable. The store logs the outage. */
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
