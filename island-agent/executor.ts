import type { RuntimeType } from "../shared/cargo.ts";
import type { Clock } from "../shared/clock.ts";
import { JobFailure } from "../shared/errors.ts";
import type { Assign, FromCoordinator, HeldDecision } from "../shared/protocol/from-coordinator.ts";
import type { CargoPool } from "./cargo-pool.ts";
import type { LastFrame, Outbox } from "./session/outbox.ts";

export interface ExecutorDeps {
  readonly outbox: Outbox;
  readonly pool: CargoPool;
  readonly clock: Clock;
  readonly log: (message: string, facts: object) => void;
}

/** What this Island has done since it started, for its owner. */
export interface ExecutorCounts {
  completed: number;
  failed: number;
  cancelled: number;
  /** Model tokens made, of all jobs, also of those that did not complete. */
  tokens: number;
}

/** A job in hand. */
interface Run {
  readonly assign: Assign;
  readonly abort: AbortController;
  readonly sinceMs: number;
  done: Promise<void>;
}

/** The coordinator's own limit comes first; this one is for an Island that cannot hear it. */
const RUN_LIMIT_MARGIN_MS = 5_000;

class StopRequested extends Error {
  override readonly name = "StopRequested";
}

/** Runs assigned jobs: model, load, run, and the frames that tell of it. */
export class Executor {
  readonly counts: ExecutorCounts = { completed: 0, failed: 0, cancelled: 0, tokens: 0 };
  readonly #deps: ExecutorDeps;
  readonly #runs = new Map<string, Run>();

  constructor(deps: ExecutorDeps) {
    this.#deps = deps;
  }

  /** Jobs in hand now, with the Cargo and for how long. */
  running(): { jobId: string; slug: string; type: RuntimeType; forMs: number }[] {
    const nowMs = this.#deps.clock.now();
    return [...this.#runs.values()].map(({ assign, sinceMs }) => ({
      jobId: assign.jobId,
      slug: assign.cargo.slug,
      type: assign.cargo.runtimeType,
      forMs: nowMs - sinceMs,
    }));
  }

  assign(assign: Assign, isDraining: boolean): void {
    const { outbox, clock } = this.#deps;
    const { jobId, attempt } = assign;
    if (outbox.has(jobId, attempt)) return;
    if (isDraining) {
      outbox.refuse({ type: "refused", jobId, attempt, code: "shutting_down", message: "The Island is draining" });
      return;
    }
    outbox.open(jobId, attempt);
    const run: Run = { assign, abort: new AbortController(), sinceMs: clock.now(), done: Promise.resolve() };
    this.#runs.set(jobId, run);
    run.done = this.#execute(run).finally(() => {
      if (this.#runs.get(jobId) === run) this.#runs.delete(jobId);
    });
  }

  cancel({ jobId, attempt }: Extract<FromCoordinator, { type: "cancel" }>): void {
    const run = this.#runs.get(jobId);
    if (run?.assign.attempt === attempt) run.abort.abort(new StopRequested("cancelled by the coordinator"));
  }

  /** Stops the jobs that the coordinator gave to others while this Island was away. */
  applyDecisions(held: readonly HeldDecision[]): void {
    for (const { jobId, attempt, action } of held) {
      const run = this.#runs.get(jobId);
      if (action === "drop" && run?.assign.attempt === attempt) run.abort.abort(new StopRequested("no longer ours"));
    }
  }

  /** Resolves when no job is in hand. */
  async idle(): Promise<void> {
    while (this.#runs.size > 0) await Promise.all([...this.#runs.values()].map((run) => run.done));
  }

  /** Gives all jobs back so that other Islands may run them. */
  giveUp(): void {
    const reason = new JobFailure("shutting_down", "The Island is going down", { retryable: true });
    for (const run of this.#runs.values()) run.abort.abort(reason);
  }

  async #execute(run: Run): Promise<void> {
    const { outbox } = this.#deps;
    const { jobId, attempt } = run.assign;
    try {
      outbox.end(jobId, attempt, await this.#run(run));
      this.counts.completed += 1;
    } catch (error) {
      if (error instanceof StopRequested) {
        this.counts.cancelled += 1;
        outbox.end(jobId, attempt, { type: "cancelled" });
        return;
      }
      this.counts.failed += 1;
      const failure = error instanceof JobFailure ? error : unexpected(error);
      this.#deps.log("Job failed", { jobId, attempt, code: failure.code, reason: failure.message });
      const { code, message, retryable } = failure;
      outbox.end(jobId, attempt, { type: "failed", code, message: message.slice(0, 2_000), retryable });
    }
  }

  async #run({ assign, abort }: Run): Promise<LastFrame> {
    const { outbox, pool, clock } = this.#deps;
    const { jobId, attempt, input, resume } = assign;
    const assignedMs = clock.monotonicMs();
    const lease = await pool.acquire(assign.cargo, abort.signal);
    const limit = clock.schedule(assign.runLimitMs + RUN_LIMIT_MARGIN_MS, () => {
      abort.abort(new JobFailure("run_timeout", "The run took longer than its limit"));
    });
    try {
      outbox.start(jobId, attempt);
      const startedMs = clock.monotonicMs();
      let firstOutputMs: number | null = null;
      const result = await lease.cargo.run(
        { input, resume: resume ?? null },
        (item) => {
          firstOutputMs ??= clock.monotonicMs() - startedMs;
          if (item.type === "token") this.counts.tokens += item.count;
          outbox.output(jobId, attempt, item);
        },
        abort.signal,
      );
      const { output, finishReason, usage } = result;
      const timings = {
        loadMs: tenths(startedMs - assignedMs),
        firstOutputMs: firstOutputMs === null ? null : tenths(firstOutputMs),
        runMs: tenths(clock.monotonicMs() - startedMs),
      };
      return { type: "finished", finishReason, usage, timings, ...(output === undefined ? {} : { output }) };
    } finally {
      limit.cancel();
      lease.release();
    }
  }
}

/** Milliseconds to a tenth: what is below is noise. */
function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** A fault of ours, told without its insides. */
function unexpected(error: unknown): JobFailure {
  return new JobFailure("internal", "The Island's agent failed", { retryable: true, cause: error });
}
