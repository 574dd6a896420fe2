import type { CargoManifest } from "../../../shared/cargo.ts";
import { TEXT_TO_IMAGE } from "../../../shared/onnx-task.ts";
import type { CargoRuntime } from "../runtime.ts";

/**
 * Runs ONNX models on a Mac's Core ML, with the files and adapters of `onnx` and `diffusers` Cargos. `text-to-image`
 * Cargos use `diffusers`; other tasks, and Cargos without a task, use `onnx` (catalog/README.md, inputs and outputs of
 * tasks).
 */
export function coremlRuntime({
  platform,
  onnx,
  diffusers,
}: {
  readonly platform: string;
  /** Both must be set up to run on Core ML. */
  readonly onnx: CargoRuntime;
  readonly diffusers: CargoRuntime;
}): CargoRuntime {
  const runtimeFor = ({ onnxTaskType }: CargoManifest): CargoRuntime =>
    onnxTaskType === TEXT_TO_IMAGE ? diffusers : onnx;
  return {
    type: "coreml",
    async probe(signal) {
      if (platform !== "darwin") return { usable: false, reason: "only on macOS", isFinal: true, isForeign: true };
      // The result names the provider, which is the same for both.
      return diffusers.probe(signal);
    },
    load: (cargo, ...rest) => runtimeFor(cargo).load(cargo, ...rest),
  };
}
