import type { Clock } from "../../shared/clock.ts";
import { MAX_KINDS, type CoordinatorMetrics, type WaitingWork } from "../cluster/messages.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { JobWaiting } from "../jobs/job-waiting.ts";
import type { IslandWork } from "./island-work.ts";

const WINDOW_S = 60;
const MS_PER_S = 1_000;
/** Maximum age of the earlier read from which a token rate is computed. */
const MAX_SAMPLE_AGE_MS = 30_000;
/** Minimum time between two reads from which a token rate is computed. */
const MIN_SAMPLE_AGE_MS = 1_000;
/** Ratio of neighboring latency buckets: a value is at most 5 % off. */
const FACTOR = 1.1;
/** Index of the last bucket, which counts everything above about 20 minutes. */
const MAX_BUCKET = 147;

/** Ended jobs of one second. `firstTokens`: histogram of the times to the first token. */
interface Second {
  all: number;
  failed: number;
  tokens: number;
  firstTokens: [bucket: number, count: number][];
}

/**
 * Returns a function that reads this coordinator's work, current and of the last minute. A job costs a few additions at
 * its end. A read walks the jobs and Islands in memory, and explains the wait of at most {@link MAX_KINDS} kinds.
 */
export function coordinatorMetrics(
  jobs: Pick<JobRegistry, "list" | "subscribe" | "cargoOf">,
  islands: Pick<IslandRegistry, "connected">,
  explainWait: (job: ActiveJob) => JobWaiting | null,
  work: Pick<IslandWork, "read">,
  clock: Pick<Clock, "now" | "monotonicMs">,
): () => CoordinatorMetrics {
  const bySecond = new Map<number, Second>();
  /** Sum of the tokens of jobs that ended here or moved to another coordinator. */
  let pastTokens = 0;
  /** Token counts of recent reads, oldest first. */
  let samples: { readonly atMs: number; readonly tokens: number }[] = [];

  const forget = (nowMs: number): void => {
    const first = Math.floor(nowMs / MS_PER_S) - WINDOW_S + 1;
    for (const second of bySecond.keys()) {
      if (second >= first) return;
      bySecond.delete(second);
    }
  };

  const countEnd = (job: ActiveJob): void => {
    const nowMs = clock.monotonicMs();
    forget(nowMs);
    const key = Math.floor(nowMs / MS_PER_S);
    const second = bySecond.get(key) ?? { all: 0, failed: 0, tokens: 0, firstTokens: [] };
    bySecond.set(key, second);
    const { tokens } = job.feed;
    pastTokens += tokens;
    second.all += 1;
    second.tokens += tokens;
    if (job.state === "failed" || job.state === "timeout") second.failed += 1;
    if (tokens === 0 || job.firstOutputMs === Infinity) return;
    const bucket = bucketOf(clock.now() - job.waitsSinceMs - (nowMs - job.firstOutputMs));
    const counted = second.firstTokens.find(([each]) => each === bucket);
    if (counted === undefined) second.firstTokens.push([bucket, 1]);
    else counted[1] += 1;
  };

  const countIslands = (): Pick<CoordinatorMetrics, "islands" | "slots"> => {
    let [count, free, all] = [0, 0, 0];
    for (const { island, facts } of islands.connected()) {
      count += 1;
      if (facts.draining) continue;
      free += Math.max(0, facts.slots - island.slotsInUse);
      all += facts.slots;
    }
    return { islands: count, slots: { free, all } };
  };

  const countJobs = () => {
    let [running, waiting, tokens] = [0, 0, 0];
    const kinds = new Map<string, { oldest: ActiveJob; jobs: number }>();
    for (const job of jobs.list()) {
      if (job.hasEnded) continue;
      tokens += job.feed.tokens;
      if (job.state !== "pending") {
        running += 1;
        continue;
      }
      waiting += 1;
      // Jobs of a batch without a quota slot wait for their account, so they are a separate kind for each account.
      const key = [job.slug, jobs.cargoOf(job)?.privateTo ?? "", job.holdsQuota ? "" : job.accountId].join(" ");
      const kind = kinds.get(key);
      if (kind === undefined) kinds.set(key, { oldest: job, jobs: 1 });
      else {
        kind.jobs += 1;
        if (job.waitsSinceMs < kind.oldest.waitsSinceMs) kind.oldest = job;
      }
    }
    const largest = [...kinds.values()].sort((a, b) => b.jobs - a.jobs).slice(0, MAX_KINDS);
    return {
      jobs: { running, waiting },
      waiting: largest.map(({ oldest, jobs: count }) => explain(oldest, count)),
      tokens,
    };
  };

  const explain = (oldest: ActiveJob, count: number): WaitingWork => {
    const waiting = explainWait(oldest);
    return {
      slug: oldest.slug,
      onlyIslandsOf: jobs.cargoOf(oldest)?.privateTo ?? null,
      jobs: count,
      oldestAtMs: oldest.waitsSinceMs,
      reason: waiting?.reason ?? "starting",
      message: waiting?.message ?? "an Island is being chosen",
    };
  };

  /** Returns tokens per second since an earlier read or, without one, of the jobs that ended in the last minute. */
  const measureRate = (tokens: number, endedTokens: number, nowMs: number): number => {
    samples = samples.filter(({ atMs }) => nowMs - atMs <= MAX_SAMPLE_AGE_MS);
    const [oldest] = samples;
    const last = samples.at(-1);
    if (last === undefined || nowMs - last.atMs >= MIN_SAMPLE_AGE_MS) samples.push({ atMs: nowMs, tokens });
    if (oldest === undefined || nowMs - oldest.atMs < MIN_SAMPLE_AGE_MS) return endedTokens / WINDOW_S;
    return Math.max(0, ((tokens - oldest.tokens) * MS_PER_S) / (nowMs - oldest.atMs));
  };

  jobs.subscribe((event) => {
    if (event.type === "job_dropped") pastTokens += event.job.feed.tokens;
    if (event.type === "job_ended") countEnd(event.job);
  });

  return () => {
    const nowMs = clock.monotonicMs();
    forget(nowMs);
    const seconds = [...bySecond.values()];
    const { tokens, ...counted } = countJobs();
    return {
      ...countIslands(),
      ...counted,
      ended: { all: sumOf(seconds, "all"), failed: sumOf(seconds, "failed") },
      tokensPerSecond: measureRate(pastTokens + tokens, sumOf(seconds, "tokens"), nowMs),
      firstToken: mergeCounts(seconds.map(({ firstTokens }) => firstTokens)),
      work: work.read(),
    };
  };
}

function sumOf(seconds: readonly Second[], name: "all" | "failed" | "tokens"): number {
  return seconds.reduce((sum, second) => sum + second[name], 0);
}

/** Histogram of durations, as pairs of bucket and count. Histograms of several coordinators can be added. */
export type Counts = readonly (readonly [bucket: number, count: number])[];

export function bucketOf(ms: number): number {
  return Math.min(MAX_BUCKET, Math.max(0, Math.round(Math.log(Math.max(1, ms)) / Math.log(FACTOR))));
}

export function mergeCounts(all: Iterable<Counts>): Counts {
  const sums = new Map<number, number>();
  for (const counts of all) for (const [bucket, count] of counts) sums.set(bucket, (sums.get(bucket) ?? 0) + count);
  return [...sums].sort(([a], [b]) => a - b);
}

/** Returns the duration in ms below which this share of the values is; null for an empty histogram. */
export function quantileOf(counts: Counts, share: number): number | null {
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  let below = 0;
  for (const [bucket, count] of mergeCounts([counts])) {
    below += count;
    if (below >= total * share) return Math.round(FACTOR ** bucket * 10) / 10;
  }
  return null;
}
