import type { WeightFormat } from "../../../shared/cargo.ts";
import type { OnnxTask } from "../../../shared/onnx-task.ts";
import type { DeviceChoice } from "./execution-providers.ts";

/** What a host process needs to load one model. */
export interface LoadRequest {
  /** A folder in transformers.js' layout, or one `.onnx` file for raw tensors. */
  readonly modelPath: string;
  /** null: raw tensors in and out. */
  readonly task: OnnxTask | null;
  /** null: the best format that the folder has. */
  readonly weights: WeightFormat | null;
  readonly device: DeviceChoice;
  /** CPU threads of one operator, at least 1. */
  readonly threads: number;
}
