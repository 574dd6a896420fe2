import type { ServerResponse } from "node:http";
import type { Clock } from "../../../shared/clock.ts";

const CHECK_MS = 1_000;

/**
 * Cuts streams that have no end of their own within a second after their key or session has ended, in whatever way: a changed password, the
 * operator's command line. It reads one number a second, and only while there are such streams.
 * @param readRevision Changes whenever a credential may have ended, also by another process.
 * @returns Adds a stream, until its response closes. `mayRead`: false cuts it.
 */
export function checkCredentials(
  readRevision: () => Promise<number>,
  clock: Pick<Clock, "sleep">,
): (response: ServerResponse, mayRead: () => Promise<boolean>) => void {
  /** Each with what says whether it may go on. */
  const streams = new Map<ServerResponse, () => Promise<boolean>>();
  /** Ends the checks; null while there is no stream. */
  let checking: AbortController | null = null;

  const check = async (known: number | null): Promise<number> => {
    const revision = await readRevision();
    if (revision === known) return revision;
    for (const [response, mayRead] of streams) {
      if (!(await mayRead())) response.destroy();
    }
    return revision;
  };
  const checkUntil = async (signal: AbortSignal): Promise<void> => {
    // What ended since a credential was looked up is found by the first check.
    let known: number | null = null;
    while (!signal.aborted) {
      await clock.sleep(CHECK_MS, signal);
      // While storage cannot be read, nobody's credential ends.
      known = await check(known).catch(() => known);
    }
  };

  return (response, mayRead) => {
    if (response.destroyed) return;
    streams.set(response, mayRead);
    if (checking === null) {
      const { signal } = (checking = new AbortController());
      checkUntil(signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }
    response.once("close", () => {
      streams.delete(response);
      if (streams.size > 0) return;
      checking?.abort();
      checking = null;
    });
  };
}
