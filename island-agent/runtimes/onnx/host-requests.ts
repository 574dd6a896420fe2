import type { WeightFormat } from "../../../shared/cargo.ts";
import type { OnnxTask } from "../../../shared/onnx-task.ts";
import type { DeviceChoice } from "./execution-providers.ts";

/** A probe needs to know nothing: it reports all that the host has. */
export type ProbeOrder = null;

/** What a host process needs to bring one model into memory. */
export interface LoadOrder {
  /** A folder as transformers.js reads it, or one `.onnx` file for raw tensors. */
  readonly modelPath: string;
  /** null: raw tensors in and out. */
  readonly task: OnnxTask | null;
  /** null: what the folder has. */
  readonly weights: WeightFormat | null;
  readonly device: DeviceChoice;
  /** CPU threads of one operator, at least 1. */
  readonly threads: number;
}
