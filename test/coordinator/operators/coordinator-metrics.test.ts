import { beforeEach, describe, expect, it } from "vitest";
import type { ActiveJob } from "../../../coordinator/jobs/active-job.ts";
import type { JobRegistry } from "../../../coordinator/jobs/job-registry.ts";
import type { IslandRegistry } from "../../../coordinator/islands/island-registry.ts";
import type { JobWaiting } from "../../../coordinator/jobs/job-waiting.ts";
import type { JobRegistryEvent } from "../../../coordinator/jobs/job-registry-events.ts";
import {
  bucketOf,
  coordinatorMetrics,
  mergeCounts,
  quantileOf,
  type Counts,
} from "../../../coordinator/operators/coordinator-metrics.ts";
import type { JobEnding } from "../../../coordinator/store/jobs/job-store.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const WORK = { promptTokens: 3, cachedTokens: 2, islands: [] };

let clock: ManualClock;
let jobs: ActiveJob[];
let tell: (event: JobRegistryEvent) => void;
let readMetrics: ReturnType<typeof coordinatorMetrics>;
let explained: number;

const makeJob = (override: object = {}): ActiveJob =>
  ({
    id: `job_${jobs.length}`,
    accountId: "user_1",
    slug: "tiny",
    state: "pending",
    hasEnded: false,
    holdsQuota: true,
    waitsSinceMs: clock.now(),
    firstOutputMs: Infinity,
    feed: { tokens: 0 },
    ...override,
  }) as unknown as ActiveJob;

const end = (override: object): void =>
  tell({ type: "job_ended", job: makeJob({ hasEnded: true, ...override }), ending: {} as JobEnding });
const island = (slots: number, slotsInUse: number, draining = false) => ({
  island: { slotsInUse },
  facts: { slots, draining },
});

beforeEach(() => {
  clock = new ManualClock();
  jobs = [];
  explained = 0;
  const registry = {
    list: () => jobs,
    subscribe: (listener: typeof tell) => void (tell = listener),
    cargoOf: ({ slug }: ActiveJob) => ({ privateTo: slug === "own" ? "user_9" : null }),
  } as unknown as JobRegistry;
  const islands = { connected: () => [island(4, 1), island(2, 3), island(8, 0, true)] } as unknown as IslandRegistry;
  const explainWait = ({ slug, holdsQuota }: ActiveJob): JobWaiting => {
    explained += 1;
    return { reason: holdsQuota ? "all_busy" : "account_limit", message: `${slug} waits`, position: 1 };
  };
  readMetrics = coordinatorMetrics(registry, islands, explainWait, { read: () => WORK }, clock);
});

describe("coordinatorMetrics()", () => {
  it("counts Islands, the slots of those that accept jobs, and the work of Islands", () => {
    expect(readMetrics()).toMatchObject({ islands: 3, slots: { free: 3, all: 6 }, work: WORK });
  });

  it("counts waiting jobs by Cargo, permitted Islands and reason", () => {
    const earlierMs = clock.now();
    jobs = [makeJob({ waitsSinceMs: earlierMs }), makeJob({ slug: "own" })];
    clock.advance(5_000);
    jobs.push(makeJob(), makeJob({ holdsQuota: false, accountId: "user_2" }), makeJob({ state: "running" }));
    const { jobs: counted, waiting } = readMetrics();
    expect(counted).toEqual({ running: 1, waiting: 4 });
    expect(waiting).toMatchObject([
      { slug: "tiny", onlyIslandsOf: null, jobs: 2, oldestAtMs: earlierMs, reason: "all_busy", message: "tiny waits" },
      { slug: "own", onlyIslandsOf: "user_9", jobs: 1 },
      { slug: "tiny", jobs: 1, reason: "account_limit" },
    ]);
  });

  it("counts 10,000 jobs of as many accounts, and explains the 256 largest kinds", () => {
    jobs = Array.from({ length: 10_000 }, (_, index) => makeJob({ holdsQuota: false, accountId: `user_${index}` }));
    jobs.push(makeJob({ slug: "most" }), makeJob({ slug: "most" }));
    const { jobs: counted, waiting } = readMetrics();
    expect(counted.waiting).toBe(10_002);
    expect([waiting.length, explained]).toEqual([256, 256]);
    expect(waiting[0]).toMatchObject({ slug: "most", jobs: 2 });
  });

  it("counts the jobs that ended within the last minute, and the time to the first token", () => {
    const waitsSinceMs = clock.now();
    clock.advance(300);
    const firstOutputMs = clock.monotonicMs();
    clock.advance(700);
    end({ state: "completed", waitsSinceMs, firstOutputMs, feed: { tokens: 30 } });
    end({ state: "failed" });
    end({ state: "cancelled" });
    const { ended, firstToken, tokensPerSecond } = readMetrics();
    expect(ended).toEqual({ all: 3, failed: 1 });
    expect(firstToken).toHaveLength(1);
    expect(tokensPerSecond).toBe(0.5);
    clock.advance(60_000);
    expect(readMetrics()).toMatchObject({ ended: { all: 0, failed: 0 }, firstToken: [] });
  });

  it("computes the token rate since an earlier read", () => {
    jobs = [makeJob({ state: "running", feed: { tokens: 100 } })];
    readMetrics();
    clock.advance(2_000);
    jobs = [makeJob({ state: "running", feed: { tokens: 150 } })];
    expect(readMetrics().tokensPerSecond).toBe(25);
    // The tokens of a job that ends stay in the sum.
    clock.advance(2_000);
    jobs = [];
    end({ state: "completed", feed: { tokens: 200 } });
    expect(readMetrics().tokensPerSecond).toBe(25);
  });

  it("keeps only the last minute in memory, however many jobs end", () => {
    for (let count = 0; count < 10_000; count += 1) {
      end({ state: "completed" });
      clock.advance(10);
    }
    expect(readMetrics().ended.all).toBeLessThanOrEqual(6_000);
  });
});

const countsOf = (times: readonly number[]): Counts => mergeCounts(times.map((ms) => [[bucketOf(ms), 1] as const]));

describe("quantileOf()", () => {
  it("is at most 5 % off, over the counts of several coordinators", () => {
    const times = Array.from({ length: 1_000 }, (_, index) => 10 + index * 7);
    const counts = mergeCounts([countsOf(times.slice(0, 300)), countsOf(times.slice(300))]);
    for (const share of [0.01, 0.5, 0.99]) {
      const exact = times[Math.ceil(share * times.length) - 1] ?? 0;
      expect(Math.abs((quantileOf(counts, share) ?? 0) / exact - 1)).toBeLessThan(0.05);
    }
  });

  it("is null for no values, and bounded for any duration", () => {
    expect(quantileOf([], 0.5)).toBeNull();
    expect(bucketOf(-5)).toBe(0);
    expect(bucketOf(Infinity)).toBe(bucketOf(1e12));
  });
});
