import type { WeightFormat } from "../../../shared/cargo.ts";
import type { DeviceChoice } from "../onnx/execution-providers.ts";

export interface ProbeOrder {
  readonly device: DeviceChoice;
}

/** What a host process needs to bring one pipeline into memory. */
export interface LoadOrder {
  /** A folder as diffusers' exporters write it. */
  readonly modelPath: string;
  /** null: what the folder has. */
  readonly weights: WeightFormat | null;
  readonly device: DeviceChoice;
  /** CPU threads of one operator, at least 1. */
  readonly threads: number;
}
