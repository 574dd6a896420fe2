import type { CargoManifest, RuntimeType } from "../../shared/cargo.ts";
import type { JsonValue } from "../../shared/json-value.ts";
import type { FinishReason, OutputItem, Usage } from "../../shared/output.ts";

export type ProbeResult = { usable: true; version: string } | { usable: false; reason: string };

/** One way of running Cargos on this host. An Island holds one instance per type. */
export interface CargoRuntime {
  readonly type: RuntimeType;
  /** Says whether this host can run the type, and if not, why. Never throws; never loads a model. */
  probe(signal: AbortSignal): Promise<ProbeResult>;
  /**
   * Brings a Cargo into memory, in a process of its own where the runtime is native.
   * @param modelPath the verified file on disk; null for Cargos without a model.
   * @throws {JobFailure} its `retryable` tells the coordinator whether another Island may succeed.
   */
  load(cargo: CargoManifest, modelPath: string | null, signal: AbortSignal): Promise<LoadedCargo>;
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
  /** Resident bytes measured after the load; null when it cannot be told. */
  readonly residentBytes: number | null;
  /** Runs that make progress at the same time; more wait for their turn. */
  readonly concurrency: number;
  /** Resolves when the Cargo can no longer run anything (its process ended); never rejects. */
  readonly gone: Promise<void>;
  /**
   * Runs one job. `onOutput` is called in order, before the promise settles and never after.
   * Aborting rejects with `signal.reason` within 2 s, the work being stopped by then.
   * @throws {JobFailure}
   */
  run(request: RunRequest, onOutput: (item: OutputItem) => void, signal: AbortSignal): Promise<RunResult>;
}
