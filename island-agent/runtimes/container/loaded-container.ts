import type { Clock } from "../../../shared/clock.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { isJsonValue, type JsonValue } from "../../../shared/json-value.ts";
import type { OutputItem } from "../../../shared/output.ts";
import { abortable } from "../../../shared/abortable.ts";
import { Slots } from "../../execution/slots.ts";
import { CargoGone, type LoadedCargo, type MemoryUse, type RunRequest, type RunResult } from "../runtime.ts";
import { statusOf } from "./engine.ts";
import { startFailureOf } from "./engine-failure.ts";
import { JobTalk } from "./job-talk.ts";
import type { ContainerListener, JobContainer } from "./job-container.ts";
import { WarmPool } from "./warm-pool.ts";

export interface LoadedContainerDeps {
  readonly start: (listener: ContainerListener) => Promise<JobContainer>;
  readonly clock: Clock;
  readonly concurrency: number;
  readonly memory: MemoryUse;
  /** Limit of one container. */
  readonly memoryBytes: number;
  readonly warmWindowMs: number;
  /** Longest that an aborted run waits until its container is gone. */
  readonly killWaitMs: number;
  /** Called once, when its containers are gone; it never rejects. */
  readonly onDisposed: () => Promise<void>;
  readonly log: (message: string, facts: Readonly<Record<string, unknown>>) => void;
}

/** A job's input as a line. The coordinator takes at most 256 KB; this bounds what another one may send. */
const MOST_INPUT_CHARS = 4_000_000;

/** The containers of one Cargo: those that wait for a job, and one for each job that runs. */
export class LoadedContainer implements LoadedCargo {
  /** Not measured: what the containers may take in all, which the engine holds them to. */
  readonly memory: MemoryUse;
  readonly concurrency: number;
  readonly gone: Promise<void>;
  readonly #deps: LoadedContainerDeps;
  readonly #pool: WarmPool<JobContainer>;
  readonly #slots: Slots<AbortController>;
  /** Runs under way, with those that wait for their turn, and what ends them. The promises never reject. */
  readonly #runs = new Map<AbortController, Promise<void>>();
  /** Containers on their way out; they never reject. */
  readonly #removals = new Set<Promise<void>>();
  readonly #end = Promise.withResolvers<void>();
  #disposal: Promise<void> | null = null;

  constructor(deps: LoadedContainerDeps) {
    const { start, clock, concurrency, warmWindowMs } = deps;
    this.#deps = deps;
    this.memory = deps.memory;
    this.concurrency = concurrency;
    this.#slots = new Slots(concurrency);
    this.gone = this.#end.promise;
    const discard = (container: JobContainer): void => void this.#remove(container);
    this.#pool = new WarmPool({ start, discard, clock, most: concurrency, windowMs: warmWindowMs });
  }

  /** Containers that wait for a job, for those who count. */
  get warmContainers(): number {
    return this.#pool.size;
  }

  /** Resolves when the first container waits for its job: its image and its command work. @throws {JobFailure} */
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
    const line = inputLine(request);
    const stop = new AbortController();
    const onAbort = (): void => stop.abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const work = this.#runInSlot(line, onOutput, stop);
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

  /** Kills and removes every container of it; runs under way fail, retryable. */
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

  async #runInSlot(line: string, onOutput: (item: OutputItem) => void, stop: AbortController): Promise<RunResult> {
    try {
      await this.#slots.take(stop, stop.signal);
    } catch (error) {
      throw error instanceof Unloaded ? new CargoGone() : error;
    }
    try {
      return await this.#talk(line, onOutput, stop.signal);
    } finally {
      this.#pool.free();
      this.#slots.free();
    }
  }

  async #talk(line: string, onOutput: (item: OutputItem) => void, signal: AbortSignal): Promise<RunResult> {
    const talk = new JobTalk(onOutput, signal);
    const taking = this.#pool.take(talk);
    let container: JobContainer | undefined;
    let removal: Promise<void> | undefined;
    try {
      container = await abortable(taking, signal);
      container.send(line);
      return await abortable(talk.result(container, this.#deps.memoryBytes), signal);
    } catch (error) {
      if (signal.aborted) {
        removal = container === undefined ? this.#track(this.#removeLate(taking)) : this.#remove(container);
        await this.#waitBriefly(removal);
        throw signal.reason as Error;
      }
      throw container === undefined ? this.#noteStartFailure(error) : error;
    } finally {
      if (removal === undefined && container !== undefined) void this.#remove(container);
    }
  }

  /** The work has stopped when its container is gone; an engine that hangs must not hold the job up. */
  #waitBriefly(removal: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#deps.clock.schedule(this.#deps.killWaitMs, resolve);
      void removal.then(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  /** Without its engine or its image the Cargo can run nothing any more: it is to be loaded anew. */
  #noteStartFailure(error: unknown): JobFailure {
    const failure = startFailureOf(error);
    const isLasting = statusOf(error) !== null && statusOf(error) !== 404;
    if (isLasting) return failure;
    this.#end.resolve();
    return new CargoGone(failure.message);
  }

  async #removeLate(taking: Promise<JobContainer>): Promise<void> {
    const container = await taking.catch(() => null);
    if (container !== null) await this.#remove(container);
  }

  #remove(container: JobContainer): Promise<void> {
    const removal = container.remove().catch((error: unknown) => {
      this.#deps.log("a container could not be removed", { container: container.name, reason: String(error) });
    });
    return this.#track(removal);
  }

  #track(removal: Promise<void>): Promise<void> {
    this.#removals.add(removal);
    return removal.finally(() => this.#removals.delete(removal));
  }
}

/** Ends the runs of a Cargo that is unloaded. */
class Unloaded extends JobFailure {
  constructor() {
    super("runtime_unavailable", "The Cargo has been unloaded", { retryable: true });
  }
}

/** @throws {JobFailure} `invalid_input`, or `cannot_resume`. */
function inputLine({ input, resume }: RunRequest): string {
  if (resume !== null) throw new JobFailure("cannot_resume", "A container cannot go on after another's text");
  if (!isJsonValue(input)) throw new JobFailure("invalid_input", "The input is not JSON of at most 100 levels");
  const line = JSON.stringify(input satisfies JsonValue);
  if (line.length > MOST_INPUT_CHARS) {
    throw new JobFailure("invalid_input", `The input is over ${MOST_INPUT_CHARS} characters`);
  }
  return `${line}\n`;
}
