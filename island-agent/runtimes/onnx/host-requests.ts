import type { WeightFormat } from "../../../shared/cargo.ts";
import type { OnnxTask } from "../../../shared/onnx-task.ts";
import type { DeviceChoice } from "./execution-providers.ts";

export interface LoadRequest {
  /** A folder in transformers.js' layout, or one `.onnx` file for raw tensors. */
  readonly modelPath: string;
  /** Task of the model; null for raw tensors as input and output. */
  readonly task: OnnxTask | null;
  /** Format of the weights; null for the best one that the folder contains. */
  readonly weights: WeightFormat | null;
  readonly device: DeviceChoice;
  /** CPU threads of one operator, at least 1. */
  readonly threads: number;
}
