import type { Clock } from "../../shared/clock.ts";
import { MAX_KINDS, type Figures, type WaitingWork } from "../cluster/messages.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { JobWaiting } from "../jobs/job-waiting.ts";
import { bucketOf, mergeCounts } from "./latency-histogram.ts";

export interface CoordinatorFiguresDeps {
  readonly jobs: Pick<JobRegistry, "list" | "subscribe" | "cargoOf">;
  readonly islands: Pick<IslandRegistry, "connected">;
  readonly explainWait: (job: ActiveJob) => JobWaiting | null;
  readonly clock: Pick<Clock, "now" | "monotonicMs">;
}

const WINDOW_S = 60;
const MS_PER_S = 1_000;
/** Samples of tokens for their rate: at most this old, and this far from each other. */
const MAX_SAMPLE_AGE_MS = 30_000;
const MIN_SAMPLE_AGE_MS = 1_000;

interface Second {
  all: number;
  failed: number;
  tokens: number;
  firstTokens: [bucket: number, count: number][];
}

interface WaitingKind {
  oldest: ActiveJob;
  jobs: number;
}

/**
 * What this coordinator did in the last minute, and what it does now. A job costs a few additions, at its end; the rest is counted when
 * somebody asks: one pass over jobs and one over Islands, both in memory, and a reason for each of {@link MAX_KINDS} kinds at most.
 */
export class CoordinatorFigures {
  readonly #deps: CoordinatorFiguresDeps;
  /** By second of the monotonic clock. */
  readonly #seconds = new Map<number, Second>();
  /** Of jobs that ended here or left. */
  #tokens = 0;
  #samples: { readonly atMs: number; readonly tokens: number }[] = [];

  constructor(deps: CoordinatorFiguresDeps) {
    this.#deps = deps;
    deps.jobs.subscribe((event) => {
      if (event.type === "job_dropped") this.#tokens += event.job.feed.tokens;
      if (event.type === "job_ended") this.#countEnd(event.job);
    });
  }

  read(): Figures {
    const nowMs = this.#deps.clock.monotonicMs();
    this.#forget(nowMs);
    const seconds = [...this.#seconds.values()];
    const { running, waiting, kinds, tokens } = this.#countJobs();
    return {
      ...this.#countIslands(),
      jobs: { running, waiting },
      ended: { all: sumOf(seconds, "all"), failed: sumOf(seconds, "failed") },
      tokensPerSecond: this.#rateOf(this.#tokens + tokens, sumOf(seconds, "tokens"), nowMs),
      firstToken: mergeCounts(seconds.map(({ firstTokens }) => firstTokens)),
      waiting: this.#explain(kinds),
    };
  }

  #countIslands(): Pick<Figures, "islands" | "slots"> {
    let [islands, free, all] = [0, 0, 0];
    for (const { island, facts } of this.#deps.islands.connected()) {
      islands += 1;
      if (facts.draining) continue;
      free += Math.max(0, facts.slots - island.slotsInUse);
      all += facts.slots;
    }
    return { islands, slots: { free, all } };
  }

  #countEnd(job: ActiveJob): void {
    const { clock } = this.#deps;
    const nowMs = clock.monotonicMs();
    this.#forget(nowMs);
    const key = Math.floor(nowMs / MS_PER_S);
    const second = this.#seconds.get(key) ?? { all: 0, failed: 0, tokens: 0, firstTokens: [] };
    this.#seconds.set(key, second);
    const { tokens } = job.feed;
    this.#tokens += tokens;
    second.all += 1;
    second.tokens += tokens;
    if (job.state === "failed" || job.state === "timeout") second.failed += 1;
    if (tokens === 0 || job.firstOutputMs === Infinity) return;
    const bucket = bucketOf(clock.now() - job.waitsSinceMs - (nowMs - job.firstOutputMs));
    const counted = second.firstTokens.find(([each]) => each === bucket);
    if (counted === undefined) second.firstTokens.push([bucket, 1]);
    else counted[1] += 1;
  }

  #countJobs(): { running: number; waiting: number; kinds: readonly WaitingKind[]; tokens: number } {
    const { jobs } = this.#deps;
    let [running, waiting, tokens] = [0, 0, 0];
    const kinds = new Map<string, WaitingKind>();
    for (const job of jobs.list()) {
      if (job.hasEnded) continue;
      tokens += job.feed.tokens;
      if (job.state !== "pending") {
        running += 1;
        continue;
      }
      waiting += 1;
      // A job of a batch may wait for a place of its account.
      const key = [job.slug, jobs.cargoOf(job)?.privateTo ?? "", job.hasPlace ? "" : job.accountId].join(" ");
      const kind = kinds.get(key);
      if (kind === undefined) kinds.set(key, { oldest: job, jobs: 1 });
      else {
        kind.jobs += 1;
        if (job.waitsSinceMs < kind.oldest.waitsSinceMs) kind.oldest = job;
      }
    }
    return { running, waiting, kinds: [...kinds.values()], tokens };
  }

  #explain(kinds: readonly WaitingKind[]): WaitingWork[] {
    const { jobs, explainWait } = this.#deps;
    return kinds
      .toSorted((a, b) => b.jobs - a.jobs)
      .slice(0, MAX_KINDS)
      .map(({ oldest, jobs: count }): WaitingWork => {
        const why = explainWait(oldest);
        return {
          slug: oldest.slug,
          onlyIslandsOf: jobs.cargoOf(oldest)?.privateTo ?? null,
          jobs: count,
          oldestAtMs: oldest.waitsSinceMs,
          reason: why?.reason ?? "starting",
          message: why?.message ?? "an Island is being chosen",
        };
      });
  }

  /** Of the time since somebody asked before; without that, the tokens of jobs that ended in the last minute. */
  #rateOf(tokens: number, endedTokens: number, nowMs: number): number {
    this.#samples = this.#samples.filter(({ atMs }) => nowMs - atMs <= MAX_SAMPLE_AGE_MS);
    const [oldest] = this.#samples;
    const last = this.#samples.at(-1);
    if (last === undefined || nowMs - last.atMs >= MIN_SAMPLE_AGE_MS) this.#samples.push({ atMs: nowMs, tokens });
    if (oldest === undefined || nowMs - oldest.atMs < MIN_SAMPLE_AGE_MS) return endedTokens / WINDOW_S;
    return Math.max(0, ((tokens - oldest.tokens) * MS_PER_S) / (nowMs - oldest.atMs));
  }

  #forget(nowMs: number): void {
    const first = Math.floor(nowMs / MS_PER_S) - WINDOW_S + 1;
    for (const second of this.#seconds.keys()) {
      if (second >= first) return;
      this.#seconds.delete(second);
    }
  }
}

function sumOf(seconds: readonly Second[], name: "all" | "failed" | "tokens"): number {
  return seconds.reduce((sum, second) => sum + second[name], 0);
}
