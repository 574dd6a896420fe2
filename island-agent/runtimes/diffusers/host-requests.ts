import type { WeightFormat } from "../../../shared/cargo.ts";
import type { DeviceChoice } from "../onnx/execution-providers.ts";

export interface ProbeRequest {
  readonly device: DeviceChoice;
}

/** Request to load one pipeline in a host process. */
export interface LoadRequest {
  /** A folder in the layout of diffusers' ONNX exporters. */
  readonly modelPath: string;
  /** Null: the best format that the folder has. */
  readonly weights: WeightFormat | null;
  readonly device: DeviceChoice;
  /** CPU threads of one operator, at least 1. */
  readonly threads: number;
}
