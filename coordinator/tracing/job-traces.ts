import type * as OpenTelemetry from "@opentelemetry/api";
import type { Context, Span, Tracer } from "@opentelemetry/api";
import type { Clock } from "../../shared/clock.ts";
import type { JobError } from "../../shared/errors.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobMoves } from "../jobs/job-moves.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { JobEnding } from "../store/jobs/job-store.ts";

export interface JobTracesDeps {
  /** The package `@opentelemetry/api`, which is loaded only where traces are made. */
  readonly api: Pick<typeof OpenTelemetry, "trace" | "SpanStatusCode" | "ROOT_CONTEXT" | "TraceFlags">;
  readonly tracer: Tracer;
  /** The span of the client whose request makes the job, if it sent one. */
  readonly contextNow: () => Context;
  /** The span that a `traceparent` names. */
  readonly contextOf: (traceparent: string) => Context;
  readonly jobs: Pick<JobRegistry, "subscribe"> & { readonly moves: Pick<JobMoves, "noteTrace"> };
  readonly clock: Pick<Clock, "now">;
}

/** The spans of an unfinished job that have not ended. */
interface JobTrace {
  readonly job: Span;
  readonly context: Context;
  queue: Span | null;
  attempt: { readonly span: Span; readonly context: Context; step: Span } | null;
}

/**
 * A trace for each job: `job` from its submission to its end; in it `submit` until it is stored, `queue` while it waits for an Island, and
 * `attempt` for each that Islands had, with `first_output` until the client may see something and `output` from then on. The `job` of a
 * waiting job that another coordinator handed over belongs to the one that ended there. A job from before a restart has none.
 */
export class JobTraces {
  readonly #deps: JobTracesDeps;
  readonly #traces = new Map<string, JobTrace>();

  constructor(deps: JobTracesDeps) {
    this.#deps = deps;
    deps.jobs.subscribe((event) => {
      switch (event.type) {
        case "job_offered":
          return void this.#traceOf(event.job);
        case "offer_withdrawn":
          return this.#end(event.job, { withdrawn: true });
        case "job_dropped":
          return this.#end(event.job, { moved: true });
        case "job_waiting":
          return this.#wait(event.job);
        case "attempt_begun":
          return this.#beginAttempt(event.job);
        case "first_output":
          return this.#noteOutput(event.job);
        case "attempt_refused":
          return this.#endAttempt(event.job, event.error);
        case "attempt_failed":
          return this.#endAttempt(event.job, event.error);
        case "job_ended":
          return this.#finish(event.job, event.ending);
        default:
          return undefined;
      }
    });
  }

  /** Of unfinished jobs. */
  get size(): number {
    return this.#traces.size;
  }

  /**
   * The job's trace. The first event of a new job begins it: its offer, or the assignment that comes of the offer before all listeners
   * have heard of it. A job of a batch is offered to nobody, and begins its wait while another request, or none, is served.
   */
  #traceOf(job: ActiveJob): JobTrace | undefined {
    const begun = this.#traces.get(job.id);
    const isOffered = job.stored !== null;
    const isNew = isOffered || (job.batchId !== null && job.attempt === 0);
    if (begun !== undefined || !(isNew || job.trace !== null)) return begun;
    const { api, contextNow, contextOf } = this.#deps;
    // Of another coordinator, where it was submitted.
    if (job.trace !== null) return this.#begin(job, contextOf(job.trace), this.#nowMs);
    const trace = this.#begin(job, isOffered ? contextNow() : api.ROOT_CONTEXT, job.waitsSinceMs);
    const submit = this.#deps.tracer.startSpan("submit", { startTime: job.waitsSinceMs }, trace.context);
    // A job that is withdrawn is never stored: its span is not sent.
    void (job.stored ?? Promise.resolve()).then(() => submit.end(this.#nowMs));
    return trace;
  }

  #begin(job: ActiveJob, parent: Context, startTime: number): JobTrace {
    const { api, tracer, jobs } = this.#deps;
    const attributes = { "atoll.job.id": job.id, "atoll.account.id": job.accountId, "atoll.cargo": job.slug };
    const span = tracer.startSpan("job", { startTime, attributes }, parent);
    const { traceId, spanId, traceFlags } = span.spanContext();
    const isSampled = (traceFlags & api.TraceFlags.SAMPLED) !== 0;
    if (isSampled) jobs.moves.noteTrace(job.id, `00-${traceId}-${spanId}-01`);
    const trace = { job: span, context: api.trace.setSpan(parent, span), queue: null, attempt: null };
    this.#traces.set(job.id, trace);
    return trace;
  }

  #wait(job: ActiveJob): void {
    const trace = this.#traceOf(job);
    // The scheduler hears of a wait first: an Island may have the job by now.
    if (trace === undefined || trace.attempt !== null) return;
    trace.queue ??= this.#deps.tracer.startSpan("queue", { startTime: this.#nowMs }, trace.context);
  }

  #beginAttempt(job: ActiveJob): void {
    const trace = this.#traceOf(job);
    if (trace === undefined) return;
    const { api, tracer } = this.#deps;
    const startTime = this.#nowMs;
    const queue = trace.queue ?? tracer.startSpan("queue", { startTime }, trace.context);
    queue.end(startTime);
    trace.queue = null;
    const attributes = { "atoll.attempt": job.attempt, "atoll.island.id": job.islandId ?? "" };
    const span = tracer.startSpan("attempt", { startTime, attributes }, trace.context);
    const context = api.trace.setSpan(trace.context, span);
    trace.attempt = { span, context, step: tracer.startSpan("first_output", { startTime }, context) };
  }

  #noteOutput({ id }: ActiveJob): void {
    const attempt = this.#traces.get(id)?.attempt;
    if (attempt === undefined || attempt === null) return;
    const startTime = this.#nowMs;
    attempt.step.end(startTime);
    attempt.step = this.#deps.tracer.startSpan("output", { startTime }, attempt.context);
  }

  #endAttempt({ id }: ActiveJob, error: JobError | null): void {
    const trace = this.#traces.get(id);
    const { attempt } = trace ?? {};
    if (trace === undefined || attempt === undefined || attempt === null) return;
    this.#noteError(attempt.span, error);
    attempt.step.end(this.#nowMs);
    attempt.span.end(this.#nowMs);
    trace.attempt = null;
  }

  #finish(job: ActiveJob, { error, usage, chargeMicro }: JobEnding): void {
    this.#endAttempt(job, error);
    const trace = this.#traces.get(job.id);
    if (trace !== undefined) this.#noteError(trace.job, error);
    this.#end(job, {
      state: job.state,
      attempts: job.attempt,
      prompt_tokens: usage?.promptTokens ?? 0,
      completion_tokens: usage?.completionTokens ?? 0,
      charge_micro: chargeMicro,
    });
  }

  #end(job: ActiveJob, facts: Readonly<Record<string, string | number | boolean>>): void {
    const trace = this.#traces.get(job.id);
    if (trace === undefined) return;
    this.#endAttempt(job, null);
    trace.queue?.end(this.#nowMs);
    trace.job.setAttributes(Object.fromEntries(Object.entries(facts).map(([name, fact]) => [`atoll.${name}`, fact])));
    trace.job.end(this.#nowMs);
    this.#traces.delete(job.id);
  }

  /** The code alone: a message may quote a prompt. */
  #noteError(span: Span, error: JobError | null): void {
    if (error === null) return;
    span.setAttribute("error.type", error.code);
    span.setStatus({ code: this.#deps.api.SpanStatusCode.ERROR, message: error.code });
  }

  get #nowMs(): number {
    return this.#deps.clock.now();
  }
}
