import type { Clock } from "../../shared/clock.ts";
import { recentMap } from "../../shared/recent-map.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";

/** Median speeds of a Cargo; null if not measured. */
export interface CargoSpeed {
  readonly tokensPerSecond: number | null;
  /** Time from the submission of a chat to its first token, in ms. */
  readonly firstTokenMs: number | null;
}

interface Sample {
  readonly atMs: number;
  readonly value: number;
}

export const MAX_SAMPLES = 100;
/** Maximum plausible speed, three times the fastest chat anywhere: an Island may send a whole text at once. */
const MAX_TOKENS_PER_SECOND = 10_000;
const MAX_AGE_MS = 24 * 60 * 60 * 1_000;
const MAX_CARGOS = 500;

/**
 * Measures the speeds of this coordinator's jobs since its start.
 * @returns a function for the speed of a Cargo, from its last {@link MAX_SAMPLES} jobs within 24 h
 */
export function measureSpeeds({ jobs, clock }: { jobs: Pick<JobRegistry, "subscribe">; clock: Pick<Clock, "now"> }) {
  const cargos = recentMap<Record<keyof CargoSpeed, Sample[]>>(MAX_CARGOS);
  const add = (slug: string, name: keyof CargoSpeed, value: number): void => {
    const samples = cargos.get(slug) ?? { tokensPerSecond: [], firstTokenMs: [] };
    cargos.set(slug, samples);
    // The time must not be negative, even if the clock was set back.
    samples[name].push({ atMs: clock.now(), value: Math.max(0, value) });
    if (samples[name].length > MAX_SAMPLES) samples[name].shift();
  };
  jobs.subscribe((event) => {
    // Only chats are measured, because jobs of the class "batch" wait longer.
    if (event.type === "first_output" && event.job.jobClass === "chat" && event.job.feed.tokens > 0) {
      add(event.job.slug, "firstTokenMs", clock.now() - event.job.waitsSinceMs);
    }
    if (event.type !== "job_ended" || event.job.state !== "completed") return;
    const speed = event.job.meter?.tokensPerSecond ?? null;
    if (speed !== null && speed <= MAX_TOKENS_PER_SECOND) add(event.job.slug, "tokensPerSecond", speed);
  });
  return (slug: string): CargoSpeed => {
    const samples = cargos.get(slug);
    const sinceMs = clock.now() - MAX_AGE_MS;
    return {
      tokensPerSecond: medianSince(samples?.tokensPerSecond ?? [], sinceMs),
      firstTokenMs: medianSince(samples?.firstTokenMs ?? [], sinceMs),
    };
  };
}

/** Returns the median of the values since `sinceMs`, or the lower of two middle values; null without values. */
function medianSince(samples: readonly Sample[], sinceMs: number): number | null {
  const values = samples.filter(({ atMs }) => atMs >= sinceMs).map(({ value }) => value);
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? null;
}
