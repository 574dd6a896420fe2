import type { Clock, Timer } from "../../../shared/clock.ts";
import { JobFailure } from "../../../shared/errors.ts";
import type { OutputItem } from "../../../shared/output.ts";
import { Semaphore } from "../../../shared/semaphore.ts";
import { CargoGone, type LoadedCargo, type MemoryUse, type RunRequest, type RunResult } from "../runtime.ts";
import type { FromHost } from "./from-host.ts";
import { runFailureOf } from "./host-failure.ts";
import type { HostRun } from "./host-messages.ts";
import type { HostEnding, HostProcess } from "./host-process.ts";
import { watchMemory } from "./memory-watch.ts";

export interface HostedCargoOptions<Job> {
  /** Measured after the load. */
  readonly memory: MemoryUse;
  /** Runs that the host has at once. */
  readonly concurrency: number;
  /** RAM that the process may have; no bound, unless given. */
  readonly ramCeilingBytes?: number | undefined;
  readonly clock: Clock;
  /** How long a cancelled run, or a model that is unloaded, may take before its process is killed. */
  readonly killAfterMs: number;
  /** Whether a run can go on after another's text; not, unless given. */
  readonly canResume?: boolean;
  /** What the host is given of a job's input. @throws {JobFailure} `invalid_input`, naming the first wrong field. */
  readonly readInput: (input: RunRequest["input"]) => Job;
}

interface ActiveRun {
  readonly signal: AbortSignal;
  readonly onOutput: (item: OutputItem) => void;
  readonly settle: (outcome: { result: RunResult } | { error: Error }) => void;
}

/** The agent's side of a loaded model: runs go to its host process, and all of them fail when it ends. */
export class HostedCargo<Job> implements LoadedCargo {
  readonly concurrency: number;
  readonly gone: Promise<void>;
  readonly #host: HostProcess;
  readonly #options: HostedCargoOptions<Job>;
  readonly #runs = new Map<number, ActiveRun>();
  readonly #slots: Semaphore<number>;
  /** Aborts with the reason why no run can begin any more. */
  readonly #over = new AbortController();
  #memory: MemoryUse;
  #lastRun = 0;
  /** While there are runs. */
  #endWatch: (() => void) | undefined;
  #ending: HostEnding | undefined;

  constructor(host: HostProcess, options: HostedCargoOptions<Job>) {
    this.#host = host;
    this.#options = options;
    this.#memory = options.memory;
    this.#slots = new Semaphore(options.concurrency);
    this.concurrency = options.concurrency;
    host.listen((message) => this.#receive(message));
    this.gone = host.ended.then((ending) => this.#end(ending));
  }

  /** As the host measured it last, or as its process has grown by since. */
  get memory(): MemoryUse {
    return this.#memory;
  }

  /** The host process, for those who count processes. */
  get pid(): number | undefined {
    return this.#host.pid;
  }

  /** @throws {JobFailure} as `LoadedCargo` says, and `cannot_resume`. */
  async run(request: RunRequest, onOutput: (item: OutputItem) => void, signal: AbortSignal): Promise<RunResult> {
    signal.throwIfAborted();
    this.#over.signal.throwIfAborted();
    const { readInput, canResume = false } = this.#options;
    if (request.resume !== null && !canResume) {
      const { name } = this.#host.program;
      throw new JobFailure("cannot_resume", `${name} cannot go on after the text of another Island`);
    }
    const job = readInput(request.input);
    const run = ++this.#lastRun;
    if (!this.#slots.tryAcquire()) await this.#slots.acquire(run, AbortSignal.any([signal, this.#over.signal]));
    try {
      signal.throwIfAborted();
      this.#over.signal.throwIfAborted();
      return await this.#start(run, { job, resume: request.resume }, onOutput, signal);
    } finally {
      this.#slots.release();
    }
  }

  /** Ends the host process; runs under way fail, retryable. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#over.signal.aborted) {
      this.#over.abort(new CargoGone());
      const { clock, killAfterMs } = this.#options;
      this.#host.send({ kind: "end" });
      const timer = clock.schedule(killAfterMs, () => this.#host.kill("it did not end when told to"));
      void this.gone.then(() => timer.cancel());
    }
    await this.gone;
  }

  #start(
    run: number,
    job: HostRun<Job>,
    onOutput: (item: OutputItem) => void,
    signal: AbortSignal,
  ): Promise<RunResult> {
    const { clock, killAfterMs } = this.#options;
    let killTimer: Timer | undefined;
    const onAbort = (): void => {
      this.#host.send({ kind: "abort", run });
      // Native code under way cannot be interrupted, and may hang. The other runs of the process are lost with it.
      killTimer = clock.schedule(killAfterMs, () => this.#host.kill("a cancelled job in it did not stop in time"));
    };
    if (this.#runs.size === 0) this.#endWatch = this.#watchMemory();
    return new Promise((resolve, reject) => {
      this.#runs.set(run, {
        signal,
        onOutput: (item) => {
          if (!signal.aborted) onOutput(item);
        },
        settle: (outcome) => {
          this.#runs.delete(run);
          if (this.#runs.size === 0) this.#endWatch?.();
          killTimer?.cancel();
          signal.removeEventListener("abort", onAbort);
          if (signal.aborted) reject(signal.reason as Error);
          else if ("result" in outcome) resolve(outcome.result);
          else reject(outcome.error);
        },
      });
      signal.addEventListener("abort", onAbort, { once: true });
      this.#host.send({ kind: "run", run, ...job });
    });
  }

  #watchMemory(): () => void {
    const { clock, ramCeilingBytes: ceilingBytes = Infinity } = this.#options;
    const onMeasured = (ramBytes: number): void => {
      if (ramBytes > this.#memory.ramBytes) this.#memory = { ...this.#memory, ramBytes };
    };
    return watchMemory(this.#host, { clock, ceilingBytes, onMeasured });
  }

  #receive(message: FromHost): void {
    switch (message.kind) {
      case "output":
        for (const { run, items } of message.outputs) {
          const active = this.#find(run);
          for (const item of items) active?.onOutput(item);
        }
        return;
      case "finished":
        if (this.#runs.has(message.run)) this.#memory = message.memory;
        return this.#find(message.run)?.settle({ result: message.result });
      case "failed": {
        const { code, message: why, retryable } = message.error;
        // Whatever a run says while its model is taken from under it, that is the reason.
        const error = this.#over.signal.aborted ? this.#endedEarly() : new JobFailure(code, why, { retryable });
        return this.#find(message.run)?.settle({ error });
      }
      case "aborted": {
        const run = this.#find(message.run);
        if (run?.signal.aborted === false) return this.#host.killAsBroken("a run stopped that was not aborted");
        return run?.settle({ error: new Error("aborted") });
      }
      case "probed":
      case "estimated":
      case "loaded":
      case "refused":
        return this.#host.killAsBroken(`${message.kind} among runs`);
      default:
        message satisfies never;
    }
  }

  /** A host that tells of a run which it does not have is not to be trusted with the others. */
  #find(run: number): ActiveRun | undefined {
    const active = this.#runs.get(run);
    if (active === undefined) this.#host.killAsBroken("it told of a run that it does not have");
    return active;
  }

  #end(ending: HostEnding): void {
    this.#ending = ending;
    const error = this.#endedEarly();
    if (!this.#over.signal.aborted) this.#over.abort(new CargoGone(error.message));
    for (const { settle } of this.#runs.values()) settle({ error });
  }

  /** Why runs that had begun cannot go on. */
  #endedEarly(): JobFailure {
    if (this.#ending === undefined || this.#over.signal.aborted) {
      return new JobFailure("runtime_unavailable", "The model has been unloaded", { retryable: true });
    }
    return runFailureOf(this.#host.program, this.#ending);
  }
}
