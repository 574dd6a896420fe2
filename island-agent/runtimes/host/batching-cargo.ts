import { z } from "zod";
import { JobFailure } from "../../../shared/errors.ts";
import { jsonValueSchema } from "../../../shared/json-value.ts";
import { FINISH_REASONS, type OutputItem, usageSchema } from "../../../shared/output.ts";
import type { RunRequest, RunResult, RunWatcher } from "../runtime.ts";
import type { HostProcess } from "./host-process.ts";
import { HostedCargo, type HostedCargoOptions } from "./hosted-cargo.ts";

/** Defines which jobs of a Cargo may share one run of its host. */
export interface Batching {
  readonly maxJobs: number;
  /** Maximum of a run's rows times its longest row, which is the size of the computation with padding. */
  readonly maxArea: number;
  /** @param job result of `readInput`. @returns null for a job that does not share runs. */
  readonly shareOf: (job: unknown) => Share | null;
}

/** A job's share of a run. */
interface Share {
  /** Jobs share a run only if their keys are equal. */
  readonly key: string;
  readonly rows: number;
  /** Length of the longest row, in any unit. */
  readonly longest: number;
}

/** Several jobs for one run. The host replies with {@link batchResultsSchema}: one result per job, in the same order. */
export interface JobBatch<Job> {
  readonly batch: readonly Job[];
}

const batchResultsSchema = z.array(
  z.object({ output: jsonValueSchema, finishReason: z.enum(FINISH_REASONS), usage: usageSchema }),
);

/**
 * Jobs of a batch, passed in place of a client's input. They are wrapped in a class so that a client's input cannot be
 * mistaken for them.
 */
class BatchInput {
  readonly jobs: readonly unknown[];
  constructor(jobs: readonly unknown[]) {
    this.jobs = jobs;
  }
}

interface WaitingJob {
  readonly request: RunRequest;
  readonly onOutput: (item: OutputItem) => void;
  readonly signal: AbortSignal;
  readonly watcher: RunWatcher;
  readonly job: unknown;
  readonly share: Share;
  readonly resolve: (result: RunResult) => void;
  readonly reject: (error: unknown) => void;
  /** Rejects the job. Listens to the signal while the job waits or shares a run. */
  readonly onAbort: () => void;
}

/**
 * A model in a host process whose small jobs share runs. Jobs that arrive during a run form the next run together. No
 * job waits for others to arrive. The host must give each job the result of a separate run.
 */
export class BatchingCargo extends HostedCargo {
  readonly #batching: Batching;
  readonly #readInput: HostedCargoOptions["readInput"];
  #waiting: WaitingJob[] = [];
  #isBusy = false;

  constructor(host: HostProcess, options: HostedCargoOptions, batching: Batching) {
    const { readInput } = options;
    super(host, {
      ...options,
      readInput: (input) => (input instanceof BatchInput ? { batch: input.jobs } : readInput(input)),
    });
    this.#batching = batching;
    this.#readInput = readInput;
  }

  override async run(
    request: RunRequest,
    onOutput: (item: OutputItem) => void,
    signal: AbortSignal,
    watcher: RunWatcher = {},
  ): Promise<RunResult> {
    signal.throwIfAborted();
    const job = request.resume === null ? this.#readInput(request.input) : null;
    const share = job === null ? null : this.#batching.shareOf(job);
    if (share === null) return super.run(request, onOutput, signal, watcher);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(signal.reason as Error);
      signal.addEventListener("abort", onAbort);
      this.#waiting.push({ request, onOutput, signal, watcher, job, share, resolve, reject, onAbort });
      if (!this.#isBusy) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    while (this.#waiting.length > 0) {
      const jobs = this.#takeNext();
      if (jobs.length > 1) await this.#runTogether(jobs);
      else for (const job of jobs) await this.#runAlone(job);
    }
    this.#isBusy = false;
  }

  /** Removes and returns the oldest job and the other jobs that fit its run. */
  #takeNext(): WaitingJob[] {
    const taken: WaitingJob[] = [];
    const left: WaitingJob[] = [];
    for (const job of this.#waiting) {
      if (job.signal.aborted) continue;
      if (taken.length === 0 || this.#fits(taken, job.share)) taken.push(job);
      else left.push(job);
    }
    this.#waiting = left;
    return taken;
  }

  #fits(taken: readonly WaitingJob[], share: Share): boolean {
    const { maxJobs, maxArea } = this.#batching;
    const shares = [...taken.map((each) => each.share), share];
    const rows = shares.reduce((sum, each) => sum + each.rows, 0);
    const longest = Math.max(...shares.map((each) => each.longest));
    return shares.length <= maxJobs && shares.every(({ key }) => key === share.key) && rows * longest <= maxArea;
  }

  /** Runs one job. If it is aborted, its promise rejects after the work has stopped. */
  async #runAlone({ request, onOutput, signal, watcher, resolve, reject, onAbort }: WaitingJob): Promise<void> {
    signal.removeEventListener("abort", onAbort);
    const onWorking = (): void => this.#notify([watcher]);
    await super.run(request, onOutput, signal, { ...watcher, onWorking }).then(resolve, reject);
  }

  /** Runs several jobs as one. An aborted job rejects immediately. The run is aborted when all its jobs are. */
  async #runTogether(jobs: readonly WaitingJob[]): Promise<void> {
    const signals = jobs.map(({ signal }) => signal);
    const stop = new AbortController();
    const onAnyAbort = (): void => {
      if (signals.every(({ aborted }) => aborted)) stop.abort();
    };
    for (const signal of signals) signal.addEventListener("abort", onAnyAbort);
    try {
      const input = new BatchInput(jobs.map(({ job }) => job)) as unknown as RunRequest["input"];
      const watchers = jobs.map(({ watcher }) => watcher);
      const onWorking = (): void => this.#notify(watchers);
      const { output } = await super.run({ input, resume: null }, onWorking, stop.signal, { onWorking });
      const results = batchResultsSchema.length(jobs.length).safeParse(output);
      if (!results.success) throw new JobFailure("runtime_crashed", "The host returned results for a different batch");
      for (const [i, { resolve }] of jobs.entries()) resolve(results.data[i] as RunResult);
    } catch (error) {
      if (stop.signal.aborted) return;
      // One job may have caused the failure, so each job runs again and gets its own result or failure.
      const isOfOne = error instanceof JobFailure && !error.retryable;
      for (const job of jobs) {
        if (!isOfOne) job.reject(error);
        else if (!job.signal.aborted) await this.#runAlone(job);
      }
    } finally {
      for (const { signal, onAbort } of jobs) {
        signal.removeEventListener("abort", onAnyAbort);
        signal.removeEventListener("abort", onAbort);
      }
    }
  }

  #notify(running: readonly RunWatcher[]): void {
    for (const { onWorking } of [...running, ...this.#waiting.map(({ watcher }) => watcher)]) onWorking?.();
  }
}
