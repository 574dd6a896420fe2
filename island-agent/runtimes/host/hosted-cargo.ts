import type { Clock, Timer } from "../../../shared/clock.ts";
import { JobFailure } from "../../../shared/errors.ts";
import type { OutputItem } from "../../../shared/output.ts";
import { Semaphore } from "../../../shared/async/semaphore.ts";
import {
  CargoGone,
  type LoadedCargo,
  type MemoryUse,
  type RunRequest,
  type RunResult,
  type RunWatcher,
} from "../runtime.ts";
import { runFailureOf } from "./host-failure.ts";
import type { HostEnding, HostProcess } from "./host-process.ts";
import type { FromHost, HostRun } from "./host-protocol.ts";
import { watchMemory } from "./memory-watch.ts";

export interface HostedCargoOptions {
  readonly memory: MemoryUse;
  /** Number of runs that the host works on at the same time. */
  readonly concurrency: number;
  /** RAM limit of the process. Default: none. */
  readonly ramCeilingBytes?: number | undefined;
  readonly clock: Clock;
  /** Time that an aborted run, or an unload, may take before the process is killed. */
  readonly killAfterMs: number;
  /** Whether a run can continue the text of an earlier attempt. */
  readonly canResume: boolean;
  /** Converts a job's input into the host's request. @throws {JobFailure} `invalid_input` with the invalid field. */
  readonly readInput: (input: RunRequest["input"]) => unknown;
}

interface ActiveRun {
  readonly signal: AbortSignal;
  readonly onOutput: (item: OutputItem) => void;
  readonly watcher: RunWatcher;
  readonly settle: (outcome: { result: RunResult } | { error: Error }) => void;
}

/** The agent's side of a model in a host process. Forwards runs to that process; when it ends, all of them fail. */
export class HostedCargo implements LoadedCargo {
  readonly concurrency: number;
  readonly gone: Promise<void>;
  readonly #host: HostProcess;
  readonly #options: HostedCargoOptions;
  readonly #runs = new Map<number, ActiveRun>();
  readonly #slots: Semaphore<number>;
  /** Progress callbacks of runs that wait for a slot. */
  readonly #waiting = new Set<() => void>();
  /** Aborted with the reason as soon as no more runs can start. */
  readonly #over = new AbortController();
  #memory: MemoryUse;
  #lastRun = 0;
  /** Ends the memory watch of the current runs. */
  #endWatch: (() => void) | undefined;
  #ending: HostEnding | undefined;

  constructor(host: HostProcess, options: HostedCargoOptions) {
    this.#host = host;
    this.#options = options;
    this.#memory = options.memory;
    this.#slots = new Semaphore(options.concurrency);
    this.concurrency = options.concurrency;
    host.listen((message) => this.#receive(message));
    this.gone = host.ended.then((ending) => this.#end(ending));
  }

  /** Memory as reported by the host, raised when its process has grown since then. */
  get memory(): MemoryUse {
    return this.#memory;
  }

  /** Process id of the host. */
  get pid(): number | undefined {
    return this.#host.pid;
  }

  /** @throws {JobFailure} as in `LoadedCargo`, and `cannot_resume`. */
  async run(
    request: RunRequest,
    onOutput: (item: OutputItem) => void,
    signal: AbortSignal,
    watcher: RunWatcher = {},
  ): Promise<RunResult> {
    signal.throwIfAborted();
    this.#over.signal.throwIfAborted();
    const { readInput, canResume } = this.#options;
    if (request.resume !== null && !canResume) {
      const { name } = this.#host.program;
      throw new JobFailure("cannot_resume", `${name} cannot resume the text of another Island`);
    }
    const job = readInput(request.input);
    const run = ++this.#lastRun;
    if (!this.#slots.tryAcquire()) await this.#waitForSlot(run, signal, watcher.onWorking);
    try {
      signal.throwIfAborted();
      this.#over.signal.throwIfAborted();
      const { resume, cacheKey } = request;
      return await this.#start(run, { job, resume, cacheKey }, { onOutput, watcher, signal });
    } finally {
      this.#slots.release();
    }
  }

  /** Ends the host process; its runs fail as retryable. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#over.signal.aborted) {
      this.#over.abort(new CargoGone());
      const { clock, killAfterMs } = this.#options;
      this.#host.send({ kind: "end" });
      const timer = clock.schedule(killAfterMs, () => this.#host.kill("it did not end in time after the unload"));
      void this.gone.then(() => timer.cancel());
    }
    await this.gone;
  }

  async #waitForSlot(run: number, signal: AbortSignal, onWorking: () => void = () => {}): Promise<void> {
    this.#waiting.add(onWorking);
    try {
      await this.#slots.acquire(run, AbortSignal.any([signal, this.#over.signal]));
    } finally {
      this.#waiting.delete(onWorking);
    }
  }

  #start(
    run: number,
    job: HostRun<unknown>,
    { onOutput, watcher, signal }: Omit<ActiveRun, "settle">,
  ): Promise<RunResult> {
    const { clock, killAfterMs } = this.#options;
    let killTimer: Timer | undefined;
    const onAbort = (): void => {
      this.#host.send({ kind: "abort", run });
      // Native code cannot be interrupted and may hang. The other runs of the process are lost with it.
      killTimer = clock.schedule(killAfterMs, () => this.#host.kill("a cancelled job in it did not stop in time"));
    };
    if (this.#runs.size === 0) this.#endWatch = this.#watchMemory();
    return new Promise((resolve, reject) => {
      this.#runs.set(run, {
        signal,
        onOutput: (item) => {
          if (!signal.aborted) onOutput(item);
        },
        watcher,
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
      const isSent = this.#host.send({ kind: "run", run, ...job });
      if (!isSent)
        this.#find(run)?.settle({ error: new JobFailure("invalid_input", "The input exceeds the limit of 64 MiB") });
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
        return this.#notifyWaiting();
      case "prompt": {
        const run = this.#find(message.run);
        run?.watcher.onWorking?.();
        if (run?.signal.aborted === false) run.watcher.onPrompt?.(message.prompt);
        return this.#notifyWaiting();
      }
      case "working":
        this.#find(message.run)?.watcher.onWorking?.();
        return this.#notifyWaiting();
      case "finished":
        if (this.#runs.has(message.run)) this.#memory = message.memory;
        return this.#find(message.run)?.settle({ result: message.result });
      case "failed": {
        const { code, message: why, retryable } = message.error;
        // During an unload, any error of a run is a consequence of the unload.
        const error = this.#over.signal.aborted ? this.#endedEarly() : new JobFailure(code, why, { retryable });
        return this.#find(message.run)?.settle({ error });
      }
      case "aborted": {
        const run = this.#find(message.run);
        if (run?.signal.aborted === false)
          return this.#host.killAsBroken("it reported that a run was aborted, but the agent had not aborted it");
        return run?.settle({ error: new Error("aborted") });
      }
      case "probed":
      case "estimated":
      case "loaded":
      case "refused":
        return this.#host.killAsBroken(`it sent ${message.kind} after the load`);
      default:
        message satisfies never;
    }
  }

  #notifyWaiting(): void {
    for (const onWorking of this.#waiting) onWorking();
  }

  /** Returns a run. Kills a host that reports on an unknown run, since its other reports cannot be trusted either. */
  #find(run: number): ActiveRun | undefined {
    const active = this.#runs.get(run);
    if (active === undefined) this.#host.killAsBroken("it reported on a run that it does not have");
    return active;
  }

  #end(ending: HostEnding): void {
    this.#ending = ending;
    const error = this.#endedEarly();
    if (!this.#over.signal.aborted) this.#over.abort(new CargoGone(error.message));
    for (const { settle } of this.#runs.values()) settle({ error });
  }

  /** Returns the failure of runs that the end of the host interrupted. */
  #endedEarly(): JobFailure {
    if (this.#ending === undefined || this.#over.signal.aborted) {
      return new JobFailure("runtime_unavailable", "The model has been unloaded", { retryable: true });
    }
    return runFailureOf(this.#host.program, this.#ending);
  }
}
