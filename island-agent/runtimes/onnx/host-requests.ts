import type { WeightFormat } from "../../../shared/cargo.ts";
import type { OnnxTask } from "../../../shared/onnx-task.ts";
import type { DeviceChoice } from "./execution-providers.ts";

/** Request to load one model in a host process. */
export interface LoadRequest {
  /** A folder in transformers.js' layout, or one `.onnx` file for raw tensors. */
  readonly modelPath: string;
  /** Null: raw tensors as input and output. */
  readonly task: OnnxTask | null;
  /** Null: the best format that the folder has. */
  readonly weights: WeightFormat | null;
  readonly device: DeviceChoice;
  /** CPU threads of one operator, at least 1. */
  readonly threads: number;
}
