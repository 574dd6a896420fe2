import type { Clock } from "../../shared/clock.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { JobWaiting } from "../jobs/job-waiting.ts";
import { bucketOf, mergeCounts, type Counts } from "./latency-histogram.ts";

export interface CoordinatorFiguresDeps {
  readonly jobs: Pick<JobRegistry, "list" | "subscribe" | "cargoOf">;
  readonly islands: Pick<IslandRegistry, "connectedIds" | "factsOf">;
  readonly explainWait: (job: ActiveJob) => JobWaiting | null;
  readonly clock: Pick<Clock, "now" | "monotonicMs">;
}

/** Waiting jobs of a Cargo that wait for the same thing. */
export interface WaitingWork {
  readonly slug: string;
  /** Only Islands of this account may run them; null: all. */
  readonly onlyIslandsOf: string | null;
  readonly jobs: number;
  readonly oldestAtMs: number;
  /** Of the oldest of them. */
  readonly reason: JobWaiting["reason"];
  readonly message: string;
}

/** What one coordinator knows. Coordinators send it to each other. */
export interface Figures {
  readonly islands: number;
  /** Of Islands that take new jobs. */
  readonly slots: { readonly free: number; readonly all: number };
  /** `waiting`: no Island has them. `running`: all others. */
  readonly jobs: { readonly running: number; readonly waiting: number };
  /** Of jobs in the last minute. */
  readonly ended: { readonly all: number; readonly failed: number };
  readonly tokensPerSecond: number;
  /** From when a job could be given to an Island (mostly its submission) to its first output, of jobs that ended in the last minute. */
  readonly firstToken: Counts;
  /** Most jobs first, at most {@link MAX_KINDS}. */
  readonly waiting: readonly WaitingWork[];
}

/** Kinds of waiting work that one coordinator tells of. */
export const MAX_KINDS = 256;
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

/** What this coordinator did in the last minute, and what it does now. A job costs a few additions, at its end; the rest is counted when somebody asks. */
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
    const { islands } = this.#deps;
    const nowMs = this.#deps.clock.monotonicMs();
    this.#forget(nowMs);
    const open = islands.factsOf(islands.connectedIds());
    const taking = open.filter(({ facts }) => !facts.draining);
    const seconds = [...this.#seconds.values()];
    const { running, waiting, tokens } = this.#countJobs();
    return {
      islands: open.length,
      slots: {
        free: taking.reduce((sum, { island, facts }) => sum + Math.max(0, facts.slots - island.slotsInUse), 0),
        all: taking.reduce((sum, { facts }) => sum + facts.slots, 0),
      },
      jobs: { running, waiting: waiting.reduce((sum, { jobs }) => sum + jobs, 0) },
      ended: { all: sumOf(seconds, "all"), failed: sumOf(seconds, "failed") },
      tokensPerSecond: this.#rateOf(this.#tokens + tokens, sumOf(seconds, "tokens"), nowMs),
      firstToken: mergeCounts(seconds.map(({ firstTokens }) => firstTokens)),
      waiting: waiting.slice(0, MAX_KINDS),
    };
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

  #countJobs(): { running: number; waiting: readonly WaitingWork[]; tokens: number } {
    const { jobs, explainWait } = this.#deps;
    let running = 0;
    let tokens = 0;
    const kinds = new Map<string, { oldest: ActiveJob; jobs: number }>();
    for (const job of jobs.list()) {
      if (job.hasEnded) continue;
      tokens += job.feed.tokens;
      if (job.state !== "pending") {
        running += 1;
        continue;
      }
      // A job of a batch may wait for a place of its account.
      const key = [job.slug, jobs.cargoOf(job)?.privateTo ?? "", job.hasPlace ? "" : job.accountId].join(" ");
      const kind = kinds.get(key);
      if (kind === undefined) kinds.set(key, { oldest: job, jobs: 1 });
      else {
        kind.jobs += 1;
        if (job.waitsSinceMs < kind.oldest.waitsSinceMs) kind.oldest = job;
      }
    }
    const waiting = [...kinds.values()]
      .sort((a, b) => b.jobs - a.jobs)
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
    return { running, waiting, tokens };
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
