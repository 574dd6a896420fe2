import type { CargoManifest, RuntimeType } from "../../../shared/cargo.ts";
import { JobFailure, type JobErrorCode } from "../../../shared/errors.ts";
import type { JsonValue } from "../../../shared/json-value.ts";
import type { OutputItem } from "../../../shared/output.ts";
import {
  type Admission,
  CargoGone,
  type CargoRuntime,
  type LoadedCargo,
  type MemoryUse,
  type RunRequest,
  type RunResult,
} from "../../../island-agent/runtimes/runtime.ts";
import { EventLog } from "../event-log.ts";

/** Script in the job's input, with which a test can cause any failure. */
export interface FakeScript {
  /** Name of the run in the events. Default: "run". */
  readonly name?: string;
  readonly tokens?: readonly string[];
  /** Items to output instead of tokens. They are output unchanged, even if they are invalid. */
  readonly items?: readonly OutputItem[];
  readonly output?: JsonValue;
  /** Whether to wait after the tokens until the test calls `go(name)`, or for an abort. */
  readonly hold?: boolean;
  /** Whether to react to an abort only after `go(name)`, like a runtime that is slow to stop. */
  readonly ignoreAbort?: boolean;
  readonly fail?: { readonly code: JobErrorCode; readonly message: string; readonly retryable?: boolean };
  /** Message of an unexpected error to throw. */
  readonly bug?: string;
}

/**
 * A runtime whose loads the test scripts and whose runs the jobs script. Its events are "load a", "loaded a", "begin
 * run" and so on.
 */
export class FakeRuntime implements CargoRuntime {
  readonly type: RuntimeType = "llmcpp";
  readonly events = new EventLog();
  /** Slugs whose load waits for `go("load <slug>")`. */
  readonly heldLoads = new Set<string>();
  /** Slugs whose disposal waits for `go("dispose <slug>")`. */
  readonly heldDisposals = new Set<string>();
  /** Errors of the next loads, by slug. */
  readonly loadFailures = new Map<string, Error[]>();
  /** Number of runs from now on that throw CargoGone. */
  goneRuns = 0;
  /** Reports progress of the run that started most recently. */
  work: () => void = () => undefined;
  /** Slugs in the order in which they were estimated. */
  readonly estimated: string[] = [];
  /** RAM limit of each load, in the order of the loads. */
  readonly ceilings: (number | undefined)[] = [];
  /** Cache keys of the runs, in the order of the runs. */
  readonly cacheKeys: (string | undefined)[] = [];
  /** Memory estimates by slug. Default: the Cargo's requirements. */
  readonly estimates = new Map<string, MemoryUse>();
  /** Measured RAM by slug. It is unknown for other slugs. */
  readonly residentBytes = new Map<string, number>();
  /** Maximum number of concurrent runs. */
  mostRuns = 0;
  /** Maximum number of bytes of all loading, loaded and unloading Cargos. */
  mostBytes = 0;
  readonly #gates = new Map<string, PromiseWithResolvers<void>>();
  readonly #crashes = new Map<string, () => void>();
  #runs = 0;
  #bytes = 0;

  async probe(): Promise<{ usable: true; version: string }> {
    return { usable: true, version: "fake" };
  }

  /** Releases the step held under this name, now or when it is reached. */
  go(name: string): void {
    this.#gate(name).resolve();
  }

  /** Ends the process of a loaded Cargo, like a native crash. */
  crash(slug: string): void {
    this.#crashes.get(slug)?.();
  }

  async load(
    { slug, requiredRamBytes, requiredVramBytes }: CargoManifest,
    _path: string | null,
    signal: AbortSignal,
    admit?: Admission,
  ): Promise<LoadedCargo> {
    const ramCeilingBytes = await admit?.(async () => {
      this.estimated.push(slug);
      return this.estimates.get(slug) ?? { ramBytes: requiredRamBytes, vramBytes: requiredVramBytes };
    });
    this.ceilings.push(ramCeilingBytes);
    this.events.add(`load ${slug}`);
    const ramBytes = this.estimates.get(slug)?.ramBytes ?? requiredRamBytes;
    this.#takeBytes(ramBytes);
    try {
      if (this.heldLoads.has(slug)) await this.#held(`load ${slug}`, signal);
      const failure = this.loadFailures.get(slug)?.shift();
      if (failure !== undefined) throw failure;
    } catch (error) {
      this.#takeBytes(-ramBytes);
      this.events.add(`load of ${slug} ended`);
      throw error;
    }
    this.events.add(`loaded ${slug}`);
    return this.#loaded(slug, ramBytes);
  }

  #loaded(slug: string, bytes: number): LoadedCargo {
    const gone = Promise.withResolvers<void>();
    this.#crashes.set(slug, gone.resolve);
    let disposal: Promise<void> | undefined;
    const dispose = async (): Promise<void> => {
      this.events.add(`dispose ${slug}`);
      if (this.heldDisposals.has(slug)) await this.#gate(`dispose ${slug}`).promise;
      this.#takeBytes(-bytes);
      this.events.add(`disposed ${slug}`);
      gone.resolve();
    };
    const measure = (): MemoryUse | null => memoryOf(this.residentBytes.get(slug));
    return {
      get memory() {
        return measure();
      },
      concurrency: 4,
      gone: gone.promise,
      run: async (request, onOutput, signal, watcher) => {
        this.work = watcher?.onWorking ?? this.work;
        if (this.goneRuns-- <= 0) return this.#run(request, onOutput, signal);
        gone.resolve();
        throw new CargoGone();
      },
      [Symbol.asyncDispose]: () => (disposal ??= dispose()),
    };
  }

  async #run(request: RunRequest, onOutput: (item: OutputItem) => void, signal: AbortSignal): Promise<RunResult> {
    const script = request.input as FakeScript;
    const { name = "run", tokens = [] } = script;
    signal.throwIfAborted();
    this.cacheKeys.push(request.cacheKey);
    this.#runs += 1;
    this.mostRuns = Math.max(this.mostRuns, this.#runs);
    this.events.add(`begin ${name}`);
    try {
      for (const item of script.items ?? tokens.map((content) => ({ type: "token" as const, content, count: 1 })))
        onOutput(item);
      if (script.hold === true) await this.#held(name, script.ignoreAbort === true ? undefined : signal);
      signal.throwIfAborted();
      if (script.fail !== undefined)
        throw new JobFailure(script.fail.code, script.fail.message, { retryable: script.fail.retryable ?? false });
      if (script.bug !== undefined) throw new TypeError(script.bug);
      const usage = { promptTokens: 1, completionTokens: tokens.length };
      return { finishReason: "stop", usage, ...(script.output === undefined ? {} : { output: script.output }) };
    } finally {
      this.#runs -= 1;
      this.events.add(`end ${name}`);
    }
  }

  #held(name: string, signal: AbortSignal | undefined): Promise<void> {
    this.events.add(`held ${name}`);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(signal?.reason as Error);
      if (signal?.aborted === true) onAbort();
      signal?.addEventListener("abort", onAbort, { once: true });
      void this.#gate(name).promise.then(resolve);
    });
  }

  #gate(name: string): PromiseWithResolvers<void> {
    const gate = this.#gates.get(name) ?? Promise.withResolvers<void>();
    this.#gates.set(name, gate);
    return gate;
  }

  #takeBytes(bytes: number): void {
    this.#bytes += bytes;
    this.mostBytes = Math.max(this.mostBytes, this.#bytes);
  }
}

function memoryOf(ramBytes: number | undefined): MemoryUse | null {
  return ramBytes === undefined ? null : { ramBytes, vramBytes: 0 };
}
