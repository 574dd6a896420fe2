import type { CargoManifest, RuntimeType } from "../../shared/cargo.ts";
import { JobFailure } from "../../shared/errors.ts";
import type { JsonValue } from "../../shared/json-value.ts";
import type { FinishReason, OutputItem, Usage } from "../../shared/output.ts";

export type ProbeResult = { usable: true; version: string } | { usable: false; reason: string };

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
   * Memory that the Cargo will take once loaded, from its files and its manifest; rather too much than too little.
   * @param modelPath as for `load`.
   * @throws {JobFailure} when the files do not fit the Cargo.
   */
  estimate(cargo: CargoManifest, modelPath: string | null, signal: AbortSignal): Promise<MemoryUse>;
  /**
   * Loads a Cargo, in its own process where the runtime uses native code.
   * @param modelPath the verified file on disk, or the folder of a model of several files; null for a Cargo without a model.
   * @param ramCeilingBytes runtimes that can measure it kill a Cargo's process above this much RAM (`out_of_memory`). Default: no limit.
   * @throws {JobFailure} its `retryable` tells the coordinator whether another Island may succeed.
   */
  load(
    cargo: CargoManifest,
    modelPath: string | null,
    signal: AbortSignal,
    ramCeilingBytes?: number,
  ): Promise<LoadedCargo>;
}

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
  readonly usage: Usage;
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
   * @throws {JobFailure} {@link CargoGone} when the Cargo was gone before the run began.
   */
  run(request: RunRequest, onOutput: (item: OutputItem) => void, signal: AbortSignal): Promise<RunResult>;
}

/** The Cargo was gone before the run began. Nothing was done, so the run can start again after another load. */
export class CargoGone extends JobFailure {
  constructor(message = "The Cargo has been unloaded") {
    super("runtime_unavailable", message, { retryable: true });
  }
}
