import type { Clock } from "../../shared/clock.ts";
import { formatAge } from "../../shared/cli/format-age.ts";
import type { Logger } from "../../shared/logger.ts";
import type { IslandAgent } from "../agent.ts";

const INTERVAL_MS = 10_000;
const MS_PER_S = 1_000;

/** Logs the remaining jobs and time of a stopping agent every 10 s, until no job runs or `signal` aborts. */
export async function logDrain(
  agent: { status(): Pick<ReturnType<IslandAgent["status"]>, "running"> },
  clock: Pick<Clock, "sleep">,
  log: Pick<Logger, "info">,
  limitMs: number,
  signal: AbortSignal,
): Promise<void> {
  for (let leftMs = limitMs - INTERVAL_MS; leftMs > 0; leftMs -= INTERVAL_MS) {
    await clock.sleep(INTERVAL_MS, signal).catch(() => undefined);
    const { running } = agent.status();
    if (signal.aborted || running.length === 0) return;
    const jobs = running.map(({ slug, forMs }) => `${slug} for ${formatAge(forMs)}`);
    log.info({ jobs }, `Stopping: ${leftMs / MS_PER_S} s left for running jobs`);
  }
}
