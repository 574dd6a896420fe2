import type { RuntimeType } from "../../shared/cargo.ts";
import type { Clock } from "../../shared/clock.ts";
import { isModelItem } from "../../shared/output.ts";
import { JobFailure, MAY_QUOTE, shutdownFailure } from "../../shared/errors.ts";
import type { Assign, FromCoordinator, HeldDecision } from "../../shared/protocol/from-coordinator.ts";
import { codeMembers, type IslandState } from "../../shared/protocol/from-island.ts";
import type { Logger } from "../../shared/logger.ts";
import type { CargoFiles } from "../artifacts/cargo-files.ts";
import type { CargoPool } from "./cargo-pool.ts";
import type { FetchedFiles, FetchJobFiles } from "./job-files.ts";
import { failureReasonOf, type EndedJob } from "./job-history.ts";
import type { LastFrame } from "../session/attempt-log.ts";
import type { Outbox } from "../session/outbox.ts";
import type { Engines } from "../runtimes/engine/engines.ts";
import { CargoGone } from "../runtimes/runtime.ts";
import { Semaphore } from "../../shared/async/semaphore.ts";
import { MIB } from "../../shared/format-bytes.ts";

/** Total size from which a job's files count as large. Jobs with smaller files do not wait. */
const LARGE_BYTES = 4 * MIB;
/** Maximum number of jobs with large files in memory. Each may take over 100 MB, as base64, in JSON and messages. */
const MAX_LARGE_JOBS = 2;

export interface ExecutorDeps {
  readonly outbox: Outbox;
  readonly pool: Pick<CargoPool, "acquire" | "progressOf">;
  readonly files: Pick<CargoFiles, "refusalOf">;
  /** Engines of the host. The jobs that they run need no disk space. */
  readonly engines: Pick<Engines, "serves">;
  /** Called when the state in reports has changed. */
  readonly onChange: () => void;
  readonly clock: Clock;
  readonly log: Logger;
  /** Jobs that run at the same time, at least 1. {@link Executor.setSlots} replaces it. */
  readonly slots: number;
  /** Fetches files that inputs name. If absent, the Island does not accept such jobs. */
  readonly fetchFiles?: FetchJobFiles | undefined;
  /** Called for each run that ended, and for jobs that were refused for lack of disk space. */
  readonly onEnded?: ((job: EndedJob) => void) | undefined;
}

/** Counts of jobs since the start of the agent, for the owner. */
export interface ExecutorCounts {
  completed: number;
  failed: number;
  cancelled: number;
  /** Generated tokens of all jobs, including those that did not complete. */
  tokens: number;
}

/** An attempt that runs or waits for a slot. */
interface Run {
  readonly assign: Assign;
  readonly abort: AbortController;
  readonly sinceMs: number;
  /** True once the Cargo is loaded and the run has started. */
  isLoaded: boolean;
  /** Counter that grows while the files arrive, and while the run waits for memory for them. */
  arrived: number;
  /** Counter that grows while the run works without output, for example on its prompt. */
  steps: number;
  done: Promise<void>;
}

/** Margin above the run limit, so that the coordinator's limit applies first unless the connection is lost. */
const RUN_LIMIT_MARGIN_MS = 5_000;

/** Attempts to start a job whose Cargo is unloaded before the run. The job then fails as retryable. */
const MAX_ATTEMPTS = 3;

/** Runs assigned jobs: acquires the Cargo, runs it, and reports to the coordinator. */
export class Executor {
  readonly counts: ExecutorCounts = { completed: 0, failed: 0, cancelled: 0, tokens: 0 };
  readonly #deps: ExecutorDeps;
  /** Runs, including superseded attempts whose work has not stopped yet. */
  readonly #runs = new Set<Run>();
  readonly #slots: Semaphore<Run>;
  readonly #fileMemory = new FileMemory();

  constructor(deps: ExecutorDeps) {
    this.#deps = deps;
    this.#slots = new Semaphore(deps.slots);
  }

  /** Returns the jobs that run or wait for a slot. */
  running(): { jobId: string; slug: string; type: RuntimeType; forMs: number }[] {
    const nowMs = this.#deps.clock.now();
    return [...this.#runs].map(({ assign, sinceMs }) => ({
      jobId: assign.jobId,
      slug: assign.cargo.slug,
      type: assign.cargo.runtimeType,
      forMs: nowMs - sinceMs,
    }));
  }

  /** Returns the attempts for heartbeats. `count` changes while a download, load or run makes progress. */
  working(): NonNullable<IslandState["working"]> {
    return [...this.#runs].map(({ assign: { jobId, attempt, cargo }, isLoaded, arrived, steps }) => {
      return { jobId, attempt, count: isLoaded ? steps : this.#deps.pool.progressOf(cargo) + arrived };
    });
  }

  /** @param closedBecause why the Island accepts no new jobs; null while it does. */
  assign(assign: Assign, closedBecause: string | null): void {
    const { outbox, clock } = this.#deps;
    const { jobId, attempt } = assign;
    if (outbox.has(jobId, attempt)) return;
    if (closedBecause !== null) {
      const message = `The Island is ${closedBecause}`;
      outbox.refuse({ type: "refused", jobId, attempt, code: "island_refused", message });
      return;
    }
    const { engines, files } = this.#deps;
    const lack = engines.serves(assign.cargo) ? null : files.refusalOf(assign.cargo);
    if (lack !== null) return this.#refuse(assign, lack);
    const abort = new AbortController();
    outbox.open(assign, (failure) => abort.abort(failure));
    const sinceMs = clock.now();
    const begun = { isLoaded: false, arrived: 0, steps: 0, done: Promise.resolve() };
    const run: Run = { assign, abort, sinceMs, ...begun };
    this.#runs.add(run);
    run.done = this.#execute(run).finally(() => this.#runs.delete(run));
  }

  cancel({ jobId, attempt }: Extract<FromCoordinator, { type: "cancel" }>): void {
    this.#find(jobId, attempt)?.abort.abort(new StopRequested("cancelled by the coordinator"));
  }

  /** Stops the jobs that the coordinator requeued while this Island was disconnected. */
  applyDecisions(held: readonly HeldDecision[]): void {
    for (const { jobId, attempt, action } of held) {
      if (action === "drop")
        this.#find(jobId, attempt)?.abort.abort(new StopRequested("no longer assigned to this Island"));
    }
  }

  get isIdle(): boolean {
    return this.#runs.size === 0;
  }

  /** Resolves when all runs have stopped. */
  async idle(): Promise<void> {
    while (!this.isIdle) await Promise.all([...this.#runs].map((run) => run.done));
  }

  /** Sets how many jobs run at the same time. Running jobs continue, even if there are more. */
  setSlots(slots: number): void {
    this.#slots.setPermits(slots);
  }

  /** Returns all jobs to the coordinator, so that other Islands can run them. */
  giveUp(): void {
    const reason = shutdownFailure();
    for (const run of this.#runs) run.abort.abort(reason);
  }

  /** Refuses a job before any work has started. The coordinator does not count the refusal as an attempt. */
  #refuse(assign: Assign, { code, message }: JobFailure): void {
    const { outbox, clock, log, onChange, onEnded } = this.#deps;
    const { jobId, attempt, cargo } = assign;
    outbox.refuse({ type: "refused", jobId, attempt, ...codeMembers(code), message });
    log.warn({ job_id: jobId, attempt, cargo: cargo.slug, code, reason: message }, "Job refused");
    const why = failureReasonOf({ code, message });
    onEnded?.({ jobId, slug: cargo.slug, startedAtMs: clock.now(), runMs: 0, outcome: "failed", why });
    onChange();
  }

  #find(jobId: string, attempt: number): Run | undefined {
    return [...this.#runs].find(({ assign }) => assign.jobId === jobId && assign.attempt === attempt);
  }

  async #execute(run: Run): Promise<void> {
    const { jobId, attempt } = run.assign;
    const { outbox, log } = this.#deps;
    const last = outbox.end(jobId, attempt, await this.#runInSlot(run));
    const outcome = last.type === "finished" ? "completed" : last.type;
    this.counts[outcome] += 1;
    this.#reportEnd(run, outcome, last.type === "failed" ? { why: failureReasonOf(last) } : {});
    const runMs = this.#deps.clock.now() - run.sinceMs;
    const facts = { job_id: jobId, attempt, cargo: run.assign.cargo.slug, run_ms: runMs };
    if (last.type !== "failed") return log.info({ ...facts, outcome }, "Job ended");
    const code = last.exactCode ?? last.code;
    const reason = MAY_QUOTE.has(code) ? "sent to the coordinator only" : last.message;
    return log.warn({ ...facts, code, reason }, "Job failed");
  }

  #reportEnd({ assign, sinceMs }: Run, outcome: EndedJob["outcome"], failure: Pick<EndedJob, "why">): void {
    const { clock, onEnded } = this.#deps;
    const { jobId, cargo } = assign;
    onEnded?.({ jobId, slug: cargo.slug, startedAtMs: sinceMs, runMs: clock.now() - sinceMs, outcome, ...failure });
  }

  /** Never rejects. A job may wait for a slot that a dropped job still occupies. */
  async #runInSlot(run: Run): Promise<LastFrame> {
    try {
      await this.#slots.acquire(run, run.abort.signal);
      try {
        return await this.#run(run);
      } finally {
        this.#slots.release();
      }
    } catch (error) {
      return lastFrameOf(error, run.assign, this.#deps.log);
    }
  }

  async #run(run: Run): Promise<LastFrame> {
    await using files = await this.#fetchFiles(run);
    const waiting = { signal: run.abort.signal, onWorking: () => void (run.arrived += 1) };
    return await this.#fileMemory.during(files, waiting, () => this.#runWith(files, run));
  }

  /** Acquires the Cargo again if it is gone before the run starts, for example because another job has crashed it. */
  async #runWith(files: FetchedFiles | null, run: Run): Promise<LastFrame> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#runOnce(run, files);
      } catch (error) {
        if (!(error instanceof CargoGone) || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  async #fetchFiles(run: Run): Promise<FetchedFiles | null> {
    const { files = [] } = run.assign;
    if (files.length === 0) return null;
    const { fetchFiles } = this.#deps;
    if (fetchFiles === undefined)
      throw new JobFailure("runtime_unavailable", "This Island does not support jobs with files", { retryable: true });
    return fetchFiles(files, run.abort.signal, () => (run.arrived += 1));
  }

  async #runOnce(run: Run, files: FetchedFiles | null): Promise<LastFrame> {
    const { assign, abort } = run;
    const { outbox, pool, clock } = this.#deps;
    const { jobId, attempt, resume, cacheKey } = assign;
    const assignedMs = clock.monotonicMs();
    const lease = await pool.acquire(assign.cargo, abort.signal);
    const limit = clock.schedule(assign.runLimitMs + RUN_LIMIT_MARGIN_MS, () => {
      abort.abort(new JobFailure("run_timeout", `The run exceeded its limit of ${assign.runLimitMs / 1_000} s`));
    });
    try {
      const input = files === null ? assign.input : await files.putInto(assign.input);
      outbox.start(jobId, attempt);
      run.isLoaded = true;
      const startedMs = clock.monotonicMs();
      let firstOutputMs: number | null = null;
      const result = await lease.cargo.run(
        { input, resume: resume ?? null, cacheKey },
        (item) => {
          firstOutputMs ??= clock.monotonicMs() - startedMs;
          if (isModelItem(item)) this.counts.tokens += item.count;
          outbox.output(jobId, attempt, item);
          this.#fileMemory.recordWork();
        },
        abort.signal,
        {
          onPrompt: (prompt) => outbox.prompt(jobId, attempt, prompt),
          onWorking: () => {
            run.steps += 1;
            this.#fileMemory.recordWork();
          },
        },
      );
      const { output, finishReason, stopSequence, usage, phases } = result;
      const timings = {
        loadMs: tenths(startedMs - assignedMs),
        firstOutputMs: firstOutputMs === null ? null : tenths(firstOutputMs),
        runMs: tenths(clock.monotonicMs() - startedMs),
        ...phases,
      };
      const optional = {
        ...(output === undefined ? {} : { output }),
        ...(stopSequence === undefined ? {} : { stopSequence }),
      };
      return { type: "finished", finishReason, usage, timings, ...optional };
    } finally {
      limit.cancel();
      run.isLoaded = false;
      lease.release();
    }
  }
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** Limits how many jobs hold large files in the agent's memory. Files stay on disk until then. */
class FileMemory {
  readonly #slots = new Semaphore<FetchedFiles>(MAX_LARGE_JOBS);
  readonly #waiting = new Set<() => void>();

  /**
   * Runs `work` once there is memory for the files.
   * @param onWorking called during the wait whenever another job makes progress.
   * @throws `signal.reason`
   */
  async during<T>(
    files: FetchedFiles | null,
    { signal, onWorking }: { readonly signal: AbortSignal; readonly onWorking: () => void },
    work: () => Promise<T>,
  ): Promise<T> {
    if (files === null || files.bytes < LARGE_BYTES) return work();
    this.#waiting.add(onWorking);
    try {
      await this.#slots.acquire(files, signal);
    } finally {
      this.#waiting.delete(onWorking);
    }
    try {
      return await work();
    } finally {
      this.#slots.release();
    }
  }

  /** Records progress of a running job, so that jobs waiting for its memory do not count as stalled. */
  recordWork(): void {
    for (const onWorking of this.#waiting) onWorking();
  }
}

/** Stops a run that the coordinator no longer wants. */
class StopRequested extends Error {
  override readonly name = "StopRequested";
}

/** Returns the last frame of a run that ended with `error`. Logs errors that are bugs of the agent. */
function lastFrameOf(
  error: unknown,
  { jobId, attempt }: Pick<Assign, "jobId" | "attempt">,
  log: Pick<Logger, "warn">,
): LastFrame {
  if (error instanceof StopRequested) return { type: "cancelled" };
  if (error instanceof JobFailure) {
    const { code, message, retryable } = error;
    return { type: "failed", ...codeMembers(code), message, retryable };
  }
  log.warn({ job_id: jobId, attempt, ...locationOf(error) }, "Internal error of the agent");
  return {
    type: "failed",
    code: "internal",
    message: "The Island agent failed with an internal error",
    retryable: true,
  };
}

/** Returns the source of an unexpected error, without its message, which may quote a prompt. */
function locationOf(error: unknown): { fault: string; at: string[] } {
  if (!(error instanceof Error)) return { fault: typeof error, at: [] };
  const lines = (error.stack ?? "").split("\n").map((line) => line.trim());
  return { fault: error.name, at: lines.filter((line) => line.startsWith("at ")).slice(0, 5) };
}
