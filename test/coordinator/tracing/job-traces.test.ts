import * as api from "@opentelemetry/api";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { beforeEach, describe, expect, it } from "vitest";
import type { ActiveJob } from "../../../coordinator/jobs/active-job.ts";
import type { JobRegistryEvent } from "../../../coordinator/jobs/job-registry-events.ts";
import { traceJobs, type TracedJobs } from "../../../coordinator/tracing/job-traces.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CLIENT = api.trace.setSpanContext(api.ROOT_CONTEXT, {
  traceId: TRACE,
  spanId: "00f067aa0ba902b7",
  traceFlags: api.TraceFlags.SAMPLED,
  isRemote: true,
});
const ERROR = { code: "island_lost", message: "", retryable: true } as const;
const ENDING = { error: null, usage: null, chargeMicro: 0 };

let clock: ManualClock;
let exporter: InMemorySpanExporter;
let traces: ReturnType<typeof traceJobs>;
let noted: Map<string, string>;
let tell: (type: JobRegistryEvent["type"], job: ActiveJob, facts?: object) => void;

beforeEach(() => {
  clock = new ManualClock();
  noted = new Map();
  exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const listeners: ((event: JobRegistryEvent) => void)[] = [];
  tell = (type, job, facts = {}) => listeners.forEach((hear) => hear({ type, job, ...facts } as JobRegistryEvent));
  const contextOf = (traceparent: string): api.Context => {
    const [, traceId = "", spanId = ""] = traceparent.split("-");
    const spanContext = { traceId, spanId, traceFlags: api.TraceFlags.SAMPLED, isRemote: true };
    return api.trace.setSpanContext(api.ROOT_CONTEXT, spanContext);
  };
  const jobs: TracedJobs = {
    subscribe: (listener) => void listeners.push(listener),
    noteTrace: (jobId, trace) => void noted.set(jobId, trace),
  };
  traces = traceJobs(api, provider.getTracer("test"), () => CLIENT, contextOf, jobs, clock);
});

const job = (facts: Partial<ActiveJob> = {}): ActiveJob =>
  ({
    ...{ id: "job_1", accountId: "user_1", slug: "tiny-chat", batchId: null, islandId: "host_1", attempt: 0 },
    ...{ waitsSinceMs: clock.now(), stored: Promise.resolve(), state: "pending", trace: null },
    ...facts,
  }) as ActiveJob;
const spans = () => exporter.getFinishedSpans().map(({ name, attributes }) => ({ name, attributes }));
const names = () => spans().map(({ name }) => name);
const traceIds = () => new Set(exporter.getFinishedSpans().map((span) => span.spanContext().traceId));

describe("traceJobs()", () => {
  it("adds an attempt to its trace even if it starts before the offer is reported", async () => {
    tell("attempt_begun", job({ attempt: 1 }));
    tell("job_offered", job({ attempt: 1 }));
    await Promise.resolve();
    tell("first_output", job({ attempt: 1 }));
    tell("job_ended", job({ attempt: 1, state: "completed" }), { ending: ENDING });
    expect(names()).toEqual(["queue", "submit", "first_output", "output", "attempt", "job"]);
    expect([traceIds(), traces.size]).toEqual([new Set([TRACE]), 0]);
  });

  it("records no wait for a job that an Island gets before the wait is reported", () => {
    tell("job_offered", job());
    tell("attempt_begun", job({ attempt: 1 }));
    tell("attempt_failed", job({ attempt: 1 }), { cause: "failed", error: ERROR });
    tell("attempt_begun", job({ attempt: 2 }));
    tell("job_waiting", job({ attempt: 2 }));
    tell("job_ended", job({ attempt: 2, state: "completed" }), { ending: ENDING });
    expect(names().filter((name) => name === "queue")).toHaveLength(2);
  });

  it("times each part on the coordinator's clock", () => {
    const startMs = clock.now();
    tell("job_offered", job());
    tell("job_waiting", job());
    clock.advance(5_000);
    tell("attempt_begun", job({ attempt: 1 }));
    clock.advance(1_000);
    tell("job_ended", job({ attempt: 1, waitsSinceMs: startMs }), { ending: ENDING });
    const lasted = (name: string) => exporter.getFinishedSpans().find((span) => span.name === name)?.duration[0];
    expect(["queue", "attempt", "job"].map(lasted)).toEqual([5, 1, 6]);
  });

  it("drops the trace of a job that is withdrawn or moves to another coordinator", () => {
    tell("job_offered", job());
    tell("offer_withdrawn", job());
    tell("job_offered", job({ id: "job_2" }));
    tell("attempt_begun", job({ id: "job_2", attempt: 1 }));
    tell("job_dropped", job({ id: "job_2", attempt: 1 }));
    expect(traces.size).toBe(0);
    const facts = spans().filter(({ name }) => name === "job");
    expect(facts.map(({ attributes }) => [attributes["atoll.withdrawn"], attributes["atoll.moved"]])).toEqual([
      [true, undefined],
      [undefined, true],
    ]);
  });

  it("continues the trace of a job that another coordinator handed over", () => {
    const atOther = `00-${TRACE}-00f067aa0ba902b8-01`;
    const moved = (facts: Partial<ActiveJob> = {}) => job({ stored: null, trace: atOther, ...facts });
    tell("job_waiting", moved());
    tell("attempt_begun", moved({ attempt: 1 }));
    tell("job_ended", moved({ attempt: 1, state: "completed" }), { ending: ENDING });
    expect([names(), traceIds()]).toEqual([["queue", "first_output", "attempt", "job"], new Set([TRACE])]);
    const span = exporter.getFinishedSpans().find(({ name }) => name === "job");
    expect(span?.parentSpanContext?.spanId).toBe("00f067aa0ba902b8");
    // The next owner continues from here.
    expect(noted.get("job_1")).toBe(`00-${TRACE}-${span?.spanContext().spanId}-01`);
  });

  it("traces a job of a batch from its quota slot on, separately from the current request", () => {
    tell("job_waiting", job({ batchId: "batch_1", stored: null }));
    tell("job_ended", job({ batchId: "batch_1", stored: null, state: "cancelled" }), { ending: ENDING });
    expect(names()).toContain("job");
    expect([...traceIds()]).not.toContain(TRACE);
  });

  it("does not trace a job whose start it has not seen", () => {
    const restored = { stored: null, attempt: 1 };
    for (const type of ["job_waiting", "attempt_begun", "first_output"] as const) tell(type, job(restored));
    tell("attempt_failed", job(restored), { cause: "lost", error: ERROR });
    tell("job_ended", job(restored), { ending: ENDING });
    expect([names(), traces.size]).toEqual([[], 0]);
  });
});
