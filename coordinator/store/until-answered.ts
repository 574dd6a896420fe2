import type { Clock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";

/** Time between two tries. */
const RETRY_MS = 1_000;

/** Runs a call that may be repeated, again each second while storage is away. Other errors pass through. */
export async function untilAnswered<T>(call: () => Promise<T>, clock: Pick<Clock, "sleep">): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isStorageAway(error)) throw error;
    }
    await clock.sleep(RETRY_MS);
  }
}

/** True for the error of a call that storage cannot answer now. */
export function isStorageAway(error: unknown): boolean {
  return error instanceof ServiceError && error.code === "storage_unavailable";
}
