import type * as OpenTelemetry from "@opentelemetry/api";
import type { Context, Span, Tracer } from "@opentelemetry/api";
import type { Clock } from "../../shared/clock.ts";
import type { JobError } from "../../shared/errors.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { JobEnding } from "../store/jobs/job-store.ts";

export type TracedJobs = Pick<JobRegistry, "subscribe" | "noteTrace">;

interface JobTrace {
  readonly job: Span;
  readonly context: Context;
  queue: Span | null;
  attempt: { readonly span: Span; readonly context: Context; step: Span } | null;
}

/**
 * Creates a trace for each job. The span `job` lasts from submission to end. It contains `submit` until the job is
 * stored, `queue` while the job waits, and an `attempt` for each Island, with `first_output` until the first visible
 * output and `output` afterwards. A waiting job that another coordinator transfers continues its trace. A job that was
 * submitted before a restart has no trace.
 */
export function traceJobs(
  /** The package `@opentelemetry/api`, which is loaded only if traces are enabled. */
  api: Pick<typeof OpenTelemetry, "trace" | "SpanStatusCode" | "ROOT_CONTEXT" | "TraceFlags">,
  tracer: Tracer,
  /** Returns the span of the client whose request submits the job, if the request has one. */
  contextNow: () => Context,
  /** Returns the span that a `traceparent` names. */
  contextOf: (traceparent: string) => Context,
  jobs: TracedJobs,
  clock: Pick<Clock, "now">,
): { readonly size: number } {
  const traces = new Map<string, JobTrace>();

  /**
   * Returns the job's trace. It starts with the offer, or with an assignment that the offer caused before all listeners
   * were called. A job of a batch is never offered, and may start to wait during another request or outside of any
   * request.
   */
  function traceOf(job: ActiveJob): JobTrace | undefined {
    const begun = traces.get(job.id);
    const isOffered = job.stored !== null;
    const isNew = isOffered || (job.batchId !== null && job.attempt === 0);
    if (begun !== undefined || !(isNew || job.trace !== null)) return begun;
    // Another coordinator submitted the job and started its trace.
    if (job.trace !== null) return begin(job, contextOf(job.trace), clock.now());
    const trace = begin(job, isOffered ? contextNow() : api.ROOT_CONTEXT, job.waitsSinceMs);
    const submit = tracer.startSpan("submit", { startTime: job.waitsSinceMs }, trace.context);
    // A withdrawn job is never stored, so the span `submit` does not end and is not sent.
    void (job.stored ?? Promise.resolve()).then(() => submit.end(clock.now()));
    return trace;
  }

  function begin(job: ActiveJob, parent: Context, startTime: number): JobTrace {
    const attributes = { "atoll.job.id": job.id, "atoll.account.id": job.accountId, "atoll.cargo": job.slug };
    const span = tracer.startSpan("job", { startTime, attributes }, parent);
    const { traceId, spanId, traceFlags } = span.spanContext();
    const isSampled = (traceFlags & api.TraceFlags.SAMPLED) !== 0;
    if (isSampled) jobs.noteTrace(job.id, `00-${traceId}-${spanId}-01`);
    const trace = { job: span, context: api.trace.setSpan(parent, span), queue: null, attempt: null };
    traces.set(job.id, trace);
    return trace;
  }

  function wait(job: ActiveJob): void {
    const trace = traceOf(job);
    // The scheduler receives the event first, so an Island may already have the job.
    if (trace === undefined || trace.attempt !== null) return;
    trace.queue ??= tracer.startSpan("queue", { startTime: clock.now() }, trace.context);
  }

  function beginAttempt(job: ActiveJob): void {
    const trace = traceOf(job);
    if (trace === undefined) return;
    const startTime = clock.now();
    const queue = trace.queue ?? tracer.startSpan("queue", { startTime }, trace.context);
    queue.end(startTime);
    trace.queue = null;
    const attributes = { "atoll.attempt": job.attempt, "atoll.island.id": job.islandId ?? "" };
    const span = tracer.startSpan("attempt", { startTime, attributes }, trace.context);
    const context = api.trace.setSpan(trace.context, span);
    trace.attempt = { span, context, step: tracer.startSpan("first_output", { startTime }, context) };
  }

  function noteOutput({ id }: ActiveJob): void {
    const attempt = traces.get(id)?.attempt ?? null;
    if (attempt === null) return;
    const startTime = clock.now();
    attempt.step.end(startTime);
    attempt.step = tracer.startSpan("output", { startTime }, attempt.context);
  }

  function endAttempt({ id }: ActiveJob, error: JobError | null): void {
    const trace = traces.get(id);
    const attempt = trace?.attempt ?? null;
    if (trace === undefined || attempt === null) return;
    noteError(attempt.span, error);
    attempt.step.end(clock.now());
    attempt.span.end(clock.now());
    trace.attempt = null;
  }

  function finish(job: ActiveJob, { error, usage, chargeMicro }: JobEnding): void {
    endAttempt(job, error);
    const trace = traces.get(job.id);
    if (trace !== undefined) noteError(trace.job, error);
    end(job, {
      state: job.state,
      attempts: job.attempt,
      prompt_tokens: usage?.promptTokens ?? 0,
      completion_tokens: usage?.completionTokens ?? 0,
      charge_micro: chargeMicro,
    });
  }

  function end(job: ActiveJob, facts: Readonly<Record<string, string | number | boolean>>): void {
    const trace = traces.get(job.id);
    if (trace === undefined) return;
    endAttempt(job, null);
    trace.queue?.end(clock.now());
    trace.job.setAttributes(Object.fromEntries(Object.entries(facts).map(([name, fact]) => [`atoll.${name}`, fact])));
    trace.job.end(clock.now());
    traces.delete(job.id);
  }

  /** Records the code of an error, without its message, which may quote a prompt. */
  function noteError(span: Span, error: JobError | null): void {
    if (error === null) return;
    span.setAttribute("error.type", error.code);
    span.setStatus({ code: api.SpanStatusCode.ERROR, message: error.code });
  }

  jobs.subscribe((event) => {
    switch (event.type) {
      case "job_offered":
        return void traceOf(event.job);
      case "offer_withdrawn":
        return end(event.job, { withdrawn: true });
      case "job_dropped":
        return end(event.job, { moved: true });
      case "job_waiting":
        return wait(event.job);
      case "attempt_begun":
        return beginAttempt(event.job);
      case "first_output":
        return noteOutput(event.job);
      case "attempt_refused":
      case "attempt_failed":
        return endAttempt(event.job, event.error);
      case "job_ended":
        return finish(event.job, event.ending);
      default:
        return undefined;
    }
  });
  return traces;
}
