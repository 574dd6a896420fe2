import { beforeEach, describe, expect, it } from "vitest";
import type { ActiveJob } from "../../../coordinator/jobs/active-job.ts";
import type { JobRegistryEvent } from "../../../coordinator/jobs/job-registry-events.ts";
import { logJobEnds, MAX_CARGO_NAMES, measureJobs } from "../../../coordinator/metrics/job-metrics.ts";
import type { JobEnding } from "../../../coordinator/store/jobs/job-store.ts";
import type { Metric } from "../../../shared/metrics.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const PROMPT = "what the client asked";

let clock: ManualClock;
let tell: (event: Partial<JobRegistryEvent>) => void;
let metrics: readonly Metric[];
let lines: object[];

beforeEach(() => {
  clock = new ManualClock();
  lines = [];
  const listeners: ((event: JobRegistryEvent) => void)[] = [];
  const jobs = { subscribe: (listener: (event: JobRegistryEvent) => void) => void listeners.push(listener) };
  tell = (event) => listeners.forEach((listener) => listener(event as JobRegistryEvent));
  metrics = measureJobs({ jobs, clock });
  logJobEnds(jobs, clock, { info: (facts: object) => void lines.push(facts) });
});

function job(facts: Partial<ActiveJob> = {}): ActiveJob {
  const cargo = { privateTo: undefined };
  return {
    ...{ id: "job_1", accountId: "user_1", islandId: "host_1", slug: "tiny-chat", batchId: null, jobClass: "chat" },
    ...{
      attempt: 1,
      refusals: 0,
      state: "completed",
      waitsSinceMs: clock.now(),
      startedAtMs: null,
      cargo,
      feed: { tokens: 3 },
    },
    ...facts,
  } as unknown as ActiveJob;
}

function end(ended: ActiveJob, ending: Partial<JobEnding> = {}): void {
  const nothing = { error: null, usage: null, chargeMicro: 0, postings: [], output: PROMPT };
  tell({ type: "job_ended", job: ended, ending: { ...nothing, ...ending } as JobEnding });
}

/** Returns the values by labels. `suffix` of a histogram: `_sum` or `_count`. */
async function valuesOf(name: string, suffix = ""): Promise<Record<string, number>> {
  const values = (await metrics.find((metric) => metric.name === name)?.read()) ?? [];
  const rows = values.filter(({ metricName }) => metricName === `${name}${suffix}`);
  return Object.fromEntries(rows.map(({ labels, value }) => [Object.values(labels).join(" "), value]));
}
const sums = (name: string) => valuesOf(name, "_sum");

describe("measureJobs()", () => {
  it("measures a job from its submission to its Island, its first output and its end", async () => {
    const first = job({ waitsSinceMs: clock.now(), state: "running" });
    clock.advance(2_000);
    tell({ type: "attempt_begun", job: first });
    clock.advance(1_000);
    tell({ type: "first_output", job: first });
    const startedAtMs = clock.now();
    clock.advance(4_000);
    end(job({ waitsSinceMs: first.waitsSinceMs, startedAtMs }));
    expect(await sums("atoll_job_assign_seconds")).toEqual({ chat: 2 });
    expect(await sums("atoll_job_first_output_seconds")).toEqual({ chat: 3 });
    expect(await sums("atoll_job_run_seconds")).toEqual({ "tiny-chat": 4 });
    expect(await valuesOf("atoll_jobs_ended_total")).toEqual({ completed: 1, failed: 0, cancelled: 0, timeout: 0 });
    expect(await valuesOf("atoll_tokens_delivered_total")).toEqual({ "": 3 });
  });

  it("measures only the wait for the first Island", async () => {
    tell({ type: "attempt_begun", job: job() });
    tell({ type: "attempt_begun", job: job({ attempt: 2 }) });
    expect(await valuesOf("atoll_attempts_begun_total")).toEqual({ "": 2 });
    expect(await valuesOf("atoll_job_assign_seconds", "_count")).toEqual({ chat: 1 });
  });

  it("counts every attempt once, by its outcome", async () => {
    const error = { code: "out_of_memory", message: PROMPT, retryable: true } as const;
    tell({ type: "attempt_refused", job: job(), error: { ...error, code: "island_refused" } });
    tell({ type: "attempt_failed", job: job(), cause: "lost", error: { ...error, code: "island_lost" } });
    tell({ type: "attempt_failed", job: job(), cause: "failed", error });
    end(job({ state: "failed" }), { error });
    end(job({ state: "cancelled", islandId: null }));
    expect(await valuesOf("atoll_attempts_ended_total")).toEqual({
      "refused island_refused": 1,
      "lost island_lost": 1,
      "failed out_of_memory": 2,
    });
    expect(await valuesOf("atoll_job_outcomes_total")).toEqual({ "failed out_of_memory": 1, "cancelled none": 1 });
  });

  it("counts charges, earnings and fees", async () => {
    const postings = [
      { party: "client:user_2", micro: 1_350_000, kind: "earning" },
      { party: "network", micro: 150_000, kind: "fee" },
    ] as const;
    end(job(), { chargeMicro: 1_500_000, postings, usage: { promptTokens: 7, completionTokens: 3 } });
    end(job());
    expect(await valuesOf("atoll_credits_total")).toEqual({ charged: 1.5, earned: 1.35, fee: 0.15 });
    expect(await valuesOf("atoll_prompt_tokens_total")).toEqual({ "": 7 });
  });

  it("names the first Cargos, and never a private one", async () => {
    for (let nth = 0; nth < 3 * MAX_CARGO_NAMES; nth += 1) end(job({ slug: `cargo-${nth}`, startedAtMs: clock.now() }));
    end(job({ slug: "secret", cargo: { privateTo: "user_1" } as ActiveJob["cargo"], startedAtMs: clock.now() }));
    const names = Object.keys(await sums("atoll_job_run_seconds"));
    expect(names).toHaveLength(MAX_CARGO_NAMES + 1);
    expect(names).toContain("other");
    const cargos = await valuesOf("atoll_cargo_jobs_ended_total");
    expect(cargos["other completed"]).toBe(2 * MAX_CARGO_NAMES + 1);
    expect(JSON.stringify([names, cargos])).not.toContain("secret");
  });
});

describe("logJobEnds()", () => {
  it("logs one line for each ended job with its ids and result, but without its texts", () => {
    const waitsSinceMs = clock.now();
    clock.advance(10);
    const startedAtMs = clock.now();
    clock.advance(5);
    const ended = job({ state: "failed", attempt: 3, refusals: 1, waitsSinceMs, startedAtMs });
    end(ended, {
      error: { code: "runtime_crashed", message: PROMPT, retryable: true },
      usage: { promptTokens: 4, completionTokens: 2 },
      chargeMicro: 500_000,
    });
    expect(lines).toEqual([
      {
        ...{ job_id: "job_1", account_id: "user_1", island_id: "host_1", cargo: "tiny-chat", state: "failed" },
        ...{ code: "runtime_crashed", attempts: 2, refusals: 1, total_ms: 15, run_ms: 5 },
        ...{ prompt_tokens: 4, completion_tokens: 2, credits: 0.5 },
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain(PROMPT);
  });
});
