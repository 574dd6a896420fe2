import type { CargoManifest } from "../../../shared/cargo.ts";
import { TEXT_TO_IMAGE } from "../../../shared/onnx-task.ts";
import type { CargoRuntime, LoadedCargo, MemoryUse, ProbeResult } from "../runtime.ts";

export interface CoremlOptions {
  /** As Node names it. */
  readonly platform: string;
  /** Both set to run on Core ML. */
  readonly onnx: CargoRuntime;
  readonly diffusers: CargoRuntime;
}

/**
 * ONNX models on a Mac's Core ML: the same files as those of `onnx` and `diffusers` Cargos, by the same adapters. The task tells which:
 * `text-to-image` is a pipeline's folder, any other task, or none, is for `onnx` (catalog/README.md).
 */
export class CoremlRuntime implements CargoRuntime {
  readonly type = "coreml";
  readonly #options: CoremlOptions;

  constructor(options: CoremlOptions) {
    this.#options = options;
  }

  async probe(signal: AbortSignal): Promise<ProbeResult> {
    if (this.#options.platform !== "darwin") return { usable: false, reason: "only on macOS" };
    // It tells which provider it takes; the other has the same.
    return this.#options.diffusers.probe(signal);
  }

  async estimate(cargo: CargoManifest, modelPath: string | null, signal: AbortSignal): Promise<MemoryUse> {
    return this.#runtimeFor(cargo).estimate(cargo, modelPath, signal);
  }

  async load(
    cargo: CargoManifest,
    modelPath: string | null,
    signal: AbortSignal,
    ramCeilingBytes?: number,
  ): Promise<LoadedCargo> {
    return this.#runtimeFor(cargo).load(cargo, modelPath, signal, ramCeilingBytes);
  }

  #runtimeFor({ onnxTaskType }: CargoManifest): CargoRuntime {
    return onnxTaskType === TEXT_TO_IMAGE ? this.#options.diffusers : this.#options.onnx;
  }
}
