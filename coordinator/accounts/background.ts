import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import { recentMap } from "../../shared/recent-map.ts";

/** Maximum number of remembered credentials. A forgotten one may be written twice within its interval. */
const MAX_CREDENTIALS = 10_000;

/** Runs writes and mails that no request waits for, and logs their failures. */
export function openBackground(log: Pick<Logger, "error">) {
  const inFlight = new Set<Promise<void>>();
  return {
    /** `failed`: the log message if `work` rejects. */
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
 * Returns a function that records the last use of a credential, at most once every `intervalMs`, in the background.
 * @param what names the credential in the log.
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
