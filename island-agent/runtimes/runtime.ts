import type { CargoManifest, RuntimeType } from "../../shared/cargo.ts";
import { JobFailure } from "../../shared/errors.ts";
import type { JsonValue } from "../../shared/json-value.ts";
import type { FinishReason, OutputItem, Usage } from "../../shared/output.ts";

export type ProbeResult = { usable: true; version: string } | { usable: false; reason: string };

/** Memory that a Cargo takes, in bytes. `vramBytes` is 0 where no GPU with memory of its own is used. */
export interface MemoryUse {
  readonly ramBytes: number;
  readonly vramBytes: number;
}

/** One way of running Cargos on this host. An Island holds one instance per type. */
export interface CargoRuntime {
  readonly type: RuntimeType;
  /** Says whether this host can run the type, and if not, why. Never throws; never loads a model. */
  probe(signal: AbortSignal): Promise<ProbeResult>;
  /**
   * What the Cargo will take when it is loaded, from its files and its manifest; errs upwards.
   * @param modelPath as of `load`.
   * @throws {JobFailure} when the files cannot be the Cargo's.
   */
  estimate(cargo: CargoManifest, modelPath: string | null, signal: AbortSignal): Promise<MemoryUse>;
  /**
   * Brings a Cargo into memory, in a process of its own where the runtime is native.
   * @param modelPath the verified file on disk, or the folder of a Cargo of several files; null for Cargos without a model.
   * @param ramCeilingBytes RAM at which a runtime that can tell ends the Cargo's process, as `out_of_memory`; none unless given.
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
  /** As the client sent it, checked by the coordinator; the runtime checks again what it relies on. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Text of an earlier attempt to go on after. */
  readonly resume: { readonly text: string; readonly tokens: number } | null;
}

export interface RunResult {
  /** Absent for text Cargos: their output is the tokens. */
  readonly output?: JsonValue;
  readonly finishReason: FinishReason;
  readonly usage: Usage;
}

/** A Cargo held in memory. */
export interface LoadedCargo extends AsyncDisposable {
  /** Measured after the load, and again as it is used where the runtime can tell; null when it cannot. */
  readonly memory: MemoryUse | null;
  /** Runs that make progress at the same time; more wait for their turn. */
  readonly concurrency: number;
  /** Resolves when the Cargo can no longer run anything (its process ended); never rejects. */
  readonly gone: Promise<void>;
  /**
   * Runs one job. `onOutput` is called in order, before the promise settles and never after.
   * Aborting rejects with `signal.reason` within 2 s, the work being stopped by then.
   * @throws {JobFailure} {@link CargoGone} when the Cargo went before the run began.
   */
  run(request: RunRequest, onOutput: (item: OutputItem) => void, signal: AbortSignal): Promise<RunResult>;
}

/** The Cargo went before the run began: nothing was done, and the run may begin anew in the Cargo loaded again. */
export class CargoGone extends JobFailure {
  constructor(message = "The Cargo has been unloaded") {
    super("runtime_unavailable", message, { retryable: true });
  }
}
