import type { Clock } from "../../../shared/clock.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import { isJsonValue, type JsonValue } from "../../../shared/json-value.ts";
import type { Logger } from "../../../shared/logger.ts";
import type { OutputItem } from "../../../shared/output.ts";
import { abortable } from "../../../shared/async/abortable.ts";
import { Semaphore } from "../../../shared/async/semaphore.ts";
import { CargoGone, type LoadedCargo, type MemoryUse, type RunRequest, type RunResult } from "../runtime.ts";
import { statusOf } from "./engine.ts";
import { startFailureOf } from "./engine-failure.ts";
import { JobOutput } from "./job-output.ts";
import type { ContainerListener, JobContainer } from "./job-container.ts";
import { WarmPool } from "./warm-pool.ts";

interface LoadedContainerDeps {
  readonly start: (listener: ContainerListener) => Promise<JobContainer>;
  readonly clock: Clock;
  readonly concurrency: number;
  readonly memory: MemoryUse;
  readonly memoryBytes: number;
  readonly warmWindowMs: number;
  /** Time that an aborted run waits for the removal of its container. */
  readonly killWaitMs: number;
  /** Called once when all containers are removed; never rejects. */
  readonly onDisposed: () => Promise<void>;
  readonly log: Pick<Logger, "info">;
}

/** Maximum length of an input, with the job's files (at most 32 MB) as base64. */
const MAX_INPUT_CHARS = 64 * MIB;

/** Containers of one Cargo: the warm ones that wait for a job, and one for each running job. */
export class LoadedContainer implements LoadedCargo {
  /** Limit of all containers together, which the engine enforces; not measured. */
  readonly memory: MemoryUse;
  readonly concurrency: number;
  readonly gone: Promise<void>;
  readonly #deps: LoadedContainerDeps;
  readonly #pool: WarmPool<JobContainer>;
  readonly #slots: Semaphore<AbortController>;
  /** Promises of active and waiting runs, with their abort controllers. They never reject. */
  readonly #runs = new Map<AbortController, Promise<void>>();
  /** Removals in progress; they never reject. */
  readonly #removals = new Set<Promise<void>>();
  readonly #end = Promise.withResolvers<void>();
  #disposal: Promise<void> | null = null;

  constructor(deps: LoadedContainerDeps) {
    const { start, clock, concurrency, warmWindowMs } = deps;
    this.#deps = deps;
    this.memory = deps.memory;
    this.concurrency = concurrency;
    this.#slots = new Semaphore(concurrency);
    this.gone = this.#end.promise;
    const discard = (container: JobContainer): void => void this.#remove(container);
    this.#pool = new WarmPool({ start, discard, clock, max: concurrency, windowMs: warmWindowMs });
  }

  get warmContainers(): number {
    return this.#pool.size;
  }

  /** Resolves when a container waits for a job, so image and command work. @throws {JobFailure} */
  async warm(): Promise<void> {
    try {
      await this.#pool.warm();
    } catch (error) {
      throw startFailureOf(error);
    }
  }

  async run(request: RunRequest, onOutput: (item: OutputItem) => void, signal: AbortSignal): Promise<RunResult> {
    signal.throwIfAborted();
    if (this.#disposal !== null) throw new CargoGone();
    const input = inputLine(request);
    const stop = new AbortController();
    const onAbort = (): void => stop.abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const work = this.#runInSlot(input, onOutput, stop);
    this.#runs.set(
      stop,
      work.then(
        () => undefined,
        () => undefined,
      ),
    );
    try {
      return await work;
    } finally {
      this.#runs.delete(stop);
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Kills and removes all containers; active runs fail as retryable. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal ??= this.#dispose();
    await this.#disposal;
  }

  async #dispose(): Promise<void> {
    const running = [...this.#runs];
    for (const [stop] of running) stop.abort(new Unloaded());
    await Promise.all(running.map(([, work]) => work));
    await this.#pool.close();
    while (this.#removals.size > 0) await Promise.all(this.#removals);
    await this.#deps.onDisposed();
    this.#end.resolve();
  }

  async #runInSlot(input: string, onOutput: (item: OutputItem) => void, stop: AbortController): Promise<RunResult> {
    try {
      await this.#slots.acquire(stop, stop.signal);
    } catch (error) {
      throw error instanceof Unloaded ? new CargoGone() : error;
    }
    try {
      return await this.#runContainer(input, onOutput, stop.signal);
    } finally {
      this.#pool.free();
      this.#slots.release();
    }
  }

  async #runContainer(input: string, onOutput: (item: OutputItem) => void, signal: AbortSignal): Promise<RunResult> {
    const output = new JobOutput(onOutput, signal);
    const taking = this.#pool.take(output);
    let container: JobContainer | undefined;
    let removal: Promise<void> | undefined;
    try {
      container = await abortable(taking, signal);
      container.writeInput(input);
      return await abortable(output.result(container, this.#deps.memoryBytes), signal);
    } catch (error) {
      if (signal.aborted) {
        removal = container === undefined ? this.#track(this.#removeLate(taking)) : this.#remove(container);
        await this.#waitBriefly(removal);
        throw signal.reason as Error;
      }
      throw container === undefined ? this.#recordStartFailure(error) : error;
    } finally {
      if (removal === undefined && container !== undefined) void this.#remove(container);
    }
  }

  /** Waits for the removal, after which no work is running. The wait is limited, since the engine may hang. */
  #waitBriefly(removal: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#deps.clock.schedule(this.#deps.killWaitMs, resolve);
      void removal.then(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  /** Ends the Cargo if its engine or image is missing, so that it must be loaded again. */
  #recordStartFailure(error: unknown): JobFailure {
    const failure = startFailureOf(error);
    const hasEngineAndImage = statusOf(error) !== null && statusOf(error) !== 404;
    if (hasEngineAndImage) return failure;
    this.#end.resolve();
    return new CargoGone(failure.message);
  }

  async #removeLate(taking: Promise<JobContainer>): Promise<void> {
    const container = await taking.catch(() => null);
    if (container !== null) await this.#remove(container);
  }

  #remove(container: JobContainer): Promise<void> {
    const removal = container.remove().catch((error: unknown) => {
      this.#deps.log.info({ container: container.name, reason: String(error) }, "Could not remove a container");
    });
    return this.#track(removal);
  }

  #track(removal: Promise<void>): Promise<void> {
    this.#removals.add(removal);
    return removal.finally(() => this.#removals.delete(removal));
  }
}

/** Abort reason for the runs of a Cargo that is being unloaded. */
class Unloaded extends JobFailure {
  constructor() {
    super("runtime_unavailable", "The Cargo has been unloaded", { retryable: true });
  }
}

/** @throws {JobFailure} `invalid_input`, or `cannot_resume`. */
function inputLine({ input, resume }: RunRequest): string {
  if (resume !== null) throw new JobFailure("cannot_resume", "A container cannot resume the text of another Island");
  if (!isJsonValue(input))
    throw new JobFailure("invalid_input", "The input is not JSON, or is nested more than 100 levels deep");
  const line = JSON.stringify(input satisfies JsonValue);
  if (line.length > MAX_INPUT_CHARS) {
    throw new JobFailure(
      "invalid_input",
      `The input has ${line.length} characters as JSON, but at most ${MAX_INPUT_CHARS} are allowed`,
    );
  }
  return `${line}\n`;
}
