import type { CargoManifest, RuntimeType } from "../../shared/cargo.ts";
import { JobFailure } from "../../shared/errors.ts";
import type { JsonValue } from "../../shared/json-value.ts";
import type { FinishReason, OutputItem, PromptTokens, Usage } from "../../shared/output.ts";

/**
 * `isFinal`: nothing that can change while the agent runs would make it usable. `isForeign`: it is for other platforms, so that its
 * owner need not hear of it. Defaults false.
 */
export type ProbeResult =
  | { usable: true; version: string }
  | { usable: false; reason: string; isFinal?: boolean; isForeign?: boolean };

/** Memory that a Cargo takes, in bytes. `vramBytes` is 0 unless a GPU with its own memory is used. */
export interface MemoryUse {
  readonly ramBytes: number;
  readonly vramBytes: number;
}

/** One way of running Cargos on this host. An Island holds one instance per type. */
export interface CargoRuntime {
  readonly type: RuntimeType;
  /** Says whether this host can run the type, and if not, why. Never throws and never loads a model. */
  probe(signal: AbortSignal): Promise<ProbeResult>;
  /**
   * Loads a Cargo, in its own process where the runtime uses native code.
   * @param modelPath the verified file on disk, or the folder of a model of several files; null for a Cargo without a model.
   * @param adapterPaths files of the Cargo's `adapters`, in their order. Default: none.
   * @param admit called once, before memory is taken; the load goes on when it resolves. Default: no wait and no limit.
   * @throws {JobFailure} its `retryable` tells the coordinator whether another Island may succeed. What `admit` throws.
   */
  load(
    cargo: CargoManifest,
    modelPath: string | null,
    signal: AbortSignal,
    admit?: Admission,
    adapterPaths?: readonly string[],
  ): Promise<LoadedCargo>;
}

/**
 * Decides when a load may take its memory.
 * @param estimate memory that the Cargo will take once loaded, from its files and its manifest; rather too much than too little. It
 *   may start the process that then loads. It throws {@link JobFailure} when the files do not fit the Cargo.
 * @returns bytes of RAM above which a runtime that can measure it kills the Cargo's process (`out_of_memory`).
 */
export type Admission = (estimate: () => Promise<MemoryUse>) => Promise<number>;

export interface RunRequest {
  /** The client's input. The coordinator has checked it; the runtime checks again what it relies on. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The text of an earlier attempt, which the run continues; null to start from the beginning. */
  readonly resume: { readonly text: string; readonly tokens: number } | null;
  /** Caches that a run leaves may speed up runs with the same key only. Absent: no other run. */
  readonly cacheKey?: string | undefined;
}

export interface RunResult {
  /** Absent for text Cargos, whose output is the tokens. */
  readonly output?: JsonValue;
  readonly finishReason: FinishReason;
  /** Of the input's stop sequences, the one that ended the text. */
  readonly stopSequence?: string;
  readonly usage: Usage;
}

/** Told what a run does beside its output. Both may be called often. */
export interface RunWatcher {
  /** A prompt is read, and how much of it is. Never called by runtimes without prompts. */
  readonly onPrompt?: (prompt: PromptTokens) => void;
  /** The run makes progress without output, or waits for other runs that do. Not called by every runtime. */
  readonly onWorking?: () => void;
}

/** A Cargo in memory. */
export interface LoadedCargo extends AsyncDisposable {
  /** Measured after the load, and again during runs where the runtime can; null where it cannot. */
  readonly memory: MemoryUse | null;
  /** Runs that make progress at the same time; further runs wait. */
  readonly concurrency: number;
  /** Resolves when the Cargo can no longer run anything (its process ended); never rejects. */
  readonly gone: Promise<void>;
  /**
   * Runs one job. `onOutput` is called in order, before the promise settles and never after.
   * Aborting rejects with `signal.reason` within 2 s, after the work has stopped.
   * @param watcher told what the run does beside its output.
   * @throws {JobFailure} {@link CargoGone} when the Cargo was gone before the run began.
   */
  run(
    request: RunRequest,
    onOutput: (item: OutputItem) => void,
    signal: AbortSignal,
    watcher?: RunWatcher,
  ): Promise<RunResult>;
}

/** The Cargo was gone before the run began. Nothing was done, so the run can start again after another load. */
export class CargoGone extends JobFailure {
  constructor(message = "The Cargo has been unloaded") {
    super("runtime_unavailable", message, { retryable: true });
  }
}
