import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import { recentMap } from "../../shared/recent-map.ts";

/** Credentials remembered; one that is forgotten is written once more within its interval. */
const MAX_CREDENTIALS = 10_000;

/** Writes and mails that no request waits for. Their failures are logged. */
export function openBackground(log: Pick<Logger, "error">) {
  const inFlight = new Set<Promise<void>>();
  return {
    /** `failed`: what the log says when `work` rejects. */
    run(work: Promise<void>, failed: string): void {
      const done = work
        .catch((error: unknown) => log.error({ err: error }, failed))
        .finally(() => inFlight.delete(done));
      inFlight.add(done);
    },
    /** Resolves when nothing is in progress. */
    async settled(): Promise<void> {
      await Promise.all(inFlight);
    },
  };
}

export type Background = ReturnType<typeof openBackground>;

/**
 * Returns a function that stores when a credential was last used: at most once in `intervalMs` for each. No request waits for it.
 * @param what the credentials, for the log.
 */
export function lastUses(
  clock: Clock,
  background: Background,
  what: string,
  write: (id: string, atMs: number) => Promise<void>,
  intervalMs = 1_000,
): (id: string) => void {
  const writtenAtMs = recentMap<number>(MAX_CREDENTIALS);
  return (id) => {
    const nowMs = clock.monotonicMs();
    const lastMs = writtenAtMs.get(id);
    if (lastMs !== undefined && nowMs - lastMs < intervalMs) return;
    writtenAtMs.set(id, nowMs);
    background.run(write(id, clock.now()), `Could not store when ${what} was last used`);
  };
}
