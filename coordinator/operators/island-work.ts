import type { Clock } from "../../shared/clock.ts";
import { MAX_SHOWN_ISLANDS, type CoordinatorMetrics } from "../cluster/messages.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { Choice } from "../scheduler/events.ts";

const MINUTE_MS = 60_000;
const WINDOW_MINUTES = 10;
/** Maximum number of Islands that are counted in a minute. */
const MAX_COUNTED = 20_000;

interface Tokens {
  output: number;
  cached: number;
}

interface Minute {
  prompt: number;
  cached: number;
  readonly islands: Map<string, Tokens>;
}

export type IslandWork = ReturnType<typeof measureIslandWork>;

/** Counts tokens by Island when attempts end, which costs a few additions for each. */
export function measureIslandWork(
  jobs: Pick<JobRegistry, "subscribe">,
  islands: Pick<IslandRegistry, "connected">,
  { placementOf }: Pick<Dispatcher, "placementOf">,
  clock: Pick<Clock, "monotonicMs">,
) {
  const byMinute = new Map<number, Minute>();
  let cachedTokens = 0;

  /** Returns the counts of this minute, and drops those before the window. */
  const current = (): Minute => {
    const now = Math.floor(clock.monotonicMs() / MINUTE_MS);
    for (const minute of byMinute.keys()) if (minute <= now - WINDOW_MINUTES) byMinute.delete(minute);
    const minute = byMinute.get(now) ?? { prompt: 0, cached: 0, islands: new Map<string, Tokens>() };
    byMinute.set(now, minute);
    return minute;
  };

  const count = (islandId: string, { meter }: ActiveJob, prompt: number, cached: number): void => {
    const minute = current();
    cachedTokens += cached;
    minute.prompt += prompt;
    minute.cached += cached;
    const tokens = minute.islands.get(islandId) ?? { output: 0, cached: 0 };
    tokens.output += meter?.tokens ?? 0;
    tokens.cached += cached;
    if (minute.islands.size < MAX_COUNTED) minute.islands.set(islandId, tokens);
  };

  jobs.subscribe((event) => {
    if (event.type !== "attempt_failed" && event.type !== "job_ended") return;
    const { job } = event;
    if (job.islandId === null) return;
    const usage = event.type === "job_ended" && job.state === "completed" ? event.ending.usage : null;
    const choice = placementOf(job.id, job.islandId)?.choice ?? null;
    count(job.islandId, job, usage?.promptTokens ?? 0, usage === null ? 0 : cachedOf(usage, choice));
  });

  return {
    /** Number of prompt tokens of completed jobs that were cached, since the start. */
    get cachedTokens(): number {
      return cachedTokens;
    },
    /** Returns the work of the last 10 minutes: totals, and the connected Islands with the most output. */
    read(): NonNullable<CoordinatorMetrics["work"]> {
      current();
      const minutes = [...byMinute.values()];
      const sum = (read: (minute: Minute) => number): number => minutes.reduce((total, each) => total + read(each), 0);
      const rows = [...islands.connected()].map(({ island: { hostId: islandId }, facts: { slots } }) => ({
        islandId,
        slots,
        outputTokens: sum((minute) => minute.islands.get(islandId)?.output ?? 0),
        cachedTokens: sum((minute) => minute.islands.get(islandId)?.cached ?? 0),
      }));
      return {
        promptTokens: sum(({ prompt }) => prompt),
        cachedTokens: sum(({ cached }) => cached),
        islands: rows.sort((a, b) => b.outputTokens - a.outputTokens).slice(0, MAX_SHOWN_ISLANDS),
      };
    },
  };
}

/** Returns the cached prompt tokens that the Island reported or, from agents that do not report them, the expected ones. */
function cachedOf(usage: { readonly promptTokens: number; readonly cachedTokens?: number }, choice: Choice | null) {
  const chosen = choice?.candidates.find(({ islandId }) => islandId === choice.islandId);
  return Math.min(usage.promptTokens, Math.round(usage.cachedTokens ?? chosen?.cachedTokens ?? 0));
}
