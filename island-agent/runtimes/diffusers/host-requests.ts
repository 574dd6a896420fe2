import type { WeightFormat } from "../../../shared/cargo.ts";
import type { DeviceChoice } from "../onnx/execution-providers.ts";

export interface ProbeRequest {
  readonly device: DeviceChoice;
}

export interface LoadRequest {
  /** A folder in the layout of diffusers' ONNX exporters. */
  readonly modelPath: string;
  /** Format of the weights; null for the best one that the folder contains. */
  readonly weights: WeightFormat | null;
  readonly device: DeviceChoice;
  /** CPU threads of one operator, at least 1. */
  readonly threads: number;
}
