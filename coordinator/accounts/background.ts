import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import { recentMap } from "../../shared/recent-map.ts";

/** Maximum number of remembered credentials. Uses of a forgotten one may be written twice within the interval. */
const MAX_CREDENTIALS = 10_000;

/** Runs writes and mails that no request waits for, and logs their failures. */
export function openBackground(log: Pick<Logger, "error">) {
  const inFlight = new Set<Promise<void>>();
  return {
    run(work: Promise<void>, failureMessage: string): void {
      const done = work
        .catch((error: unknown) => log.error({ err: error }, failureMessage))
        .finally(() => inFlight.delete(done));
      inFlight.add(done);
    },
    settled: async (): Promise<void> => void (await Promise.all(inFlight)),
  };
}

export type Background = ReturnType<typeof openBackground>;

/** Returns a function that records the last use of a credential in the background, at most once every `intervalMs`. */
export function lastUses(
  clock: Clock,
  background: Background,
  nameInLog: string,
  write: (id: string, atMs: number) => Promise<void>,
  intervalMs = 1_000,
): (id: string) => void {
  const writtenAtMs = recentMap<number>(MAX_CREDENTIALS);
  return (id) => {
    const nowMs = clock.monotonicMs();
    const lastMs = writtenAtMs.get(id);
    if (lastMs !== undefined && nowMs - lastMs < intervalMs) return;
    writtenAtMs.set(id, nowMs);
    background.run(write(id, clock.now()), `Could not store when ${nameInLog} was last used`);
  };
}
