import type { CargoManifest, RuntimeType } from "../../shared/cargo.ts";
import { JobFailure } from "../../shared/errors.ts";
import type { JsonValue } from "../../shared/json-value.ts";
import type { FinishReason, OutputItem, Phases, PromptTokens, Usage } from "../../shared/output.ts";

/**
 * Result of a probe. `isFinal`: no change during the agent's life can make the runtime usable. `isForeign`: the runtime
 * is for other platforms, so the owner gets no notice. Both default to false.
 */
export type ProbeResult =
  | { usable: true; version: string }
  | { usable: false; reason: string; isFinal?: boolean; isForeign?: boolean };

/** Memory that a Cargo takes, in bytes. `vramBytes` is 0 unless a GPU with dedicated memory is used. */
export interface MemoryUse {
  readonly ramBytes: number;
  readonly vramBytes: number;
}

/** Runs Cargos of one type on this host. An Island has one instance per type. */
export interface CargoRuntime {
  readonly type: RuntimeType;
  /** Tests whether this host can run the type. Never throws and never loads a model. */
  probe(signal: AbortSignal): Promise<ProbeResult>;
  /**
   * Loads a Cargo, in its own process where the runtime uses native code.
   * @param modelPath the verified file on disk, or the folder of a model with several files; null for a Cargo without a
   * model.
   * @param adapterPaths files of the Cargo's `adapters`, in their order. Default: none.
   * @param projectorPath file of the Cargo's `projector`. Default null.
   * @param admit called once, before memory is taken; the load continues when it resolves. Default: no wait and no
   * limit.
   * @throws {JobFailure} whose `retryable` is true if another Island may succeed; errors of `admit`.
   */
  load(
    cargo: CargoManifest,
    modelPath: string | null,
    signal: AbortSignal,
    admit?: Admission,
    adapterPaths?: readonly string[],
    projectorPath?: string | null,
  ): Promise<LoadedCargo>;
}

/**
 * Decides when a load may take its memory.
 * @param estimate returns the memory of the loaded Cargo, from its files and manifest; rather too much than too little.
 * It may start the process that then loads. It throws {@link JobFailure} when the files do not fit the Cargo.
 * @returns RAM in bytes above which a runtime that can measure it kills the Cargo's process (`out_of_memory`).
 */
export type Admission = (estimate: () => Promise<MemoryUse>) => Promise<number>;

export interface RunRequest {
  /** The client's input. The coordinator has validated it; the runtime validates again what it relies on. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Text of an earlier attempt that the run continues; null to start from the beginning. */
  readonly resume: { readonly text: string; readonly tokens: number } | null;
  /** Key of the caches that the run leaves. Only runs with the same key may use them; without a key, no run may. */
  readonly cacheKey?: string | undefined;
}

export interface RunResult {
  /** Output of the job. Absent for text Cargos, whose output is the tokens. */
  readonly output?: JsonValue;
  readonly finishReason: FinishReason;
  readonly stopSequence?: string;
  readonly usage: Usage;
  readonly phases?: Phases;
}

/** Receives the progress of a run. Both functions may be called often. */
export interface RunWatcher {
  /** Called with how much of the prompt has been read. Never called by runtimes without prompts. */
  readonly onPrompt?: (prompt: PromptTokens) => void;
  /**
   * Called when the run makes progress without output, or waits for other runs that make progress. Not every runtime
   * calls it.
   */
  readonly onWorking?: () => void;
}

export interface LoadedCargo extends AsyncDisposable {
  /** Memory, measured after the load and, if possible, during runs; null if the runtime cannot measure it. */
  readonly memory: MemoryUse | null;
  /** Number of runs that make progress at the same time; other runs wait. */
  readonly concurrency: number;
  /** Resolves when the Cargo can no longer run jobs (its process ended); never rejects. */
  readonly gone: Promise<void>;
  /**
   * Runs one job. `onOutput` is called in order, and never after the promise has settled. Aborting rejects with
   * `signal.reason` within 2 s, after the work has stopped.
   * @param watcher receives the run's progress.
   * @throws {JobFailure} {@link CargoGone} when the Cargo was gone before the run started.
   */
  run(
    request: RunRequest,
    onOutput: (item: OutputItem) => void,
    signal: AbortSignal,
    watcher?: RunWatcher,
  ): Promise<RunResult>;
}

/** The Cargo was gone before the run started. No work was done, so the run can start again after another load. */
export class CargoGone extends JobFailure {
  constructor(message = "The Cargo has been unloaded") {
    super("runtime_unavailable", message, { retryable: true });
  }
}
