/** Which GPU back ends node-llama-cpp may use: the best that works here, or none. */
export type GpuChoice = "auto" | false;

export interface ProbeOrder {
  readonly gpu: GpuChoice;
}

/** What a host process needs to bring one model into memory. */
export interface LoadOrder {
  readonly modelPath: string;
  /** Tokens per sequence that the Cargo asks for; the model's own limit is applied by the host. */
  readonly contextTokens: number;
  readonly sequences: number;
  readonly threads: number;
  readonly gpu: GpuChoice;
  /** Most that it may take of the GPUs' memory; null: what is free. */
  readonly vramCapBytes: number | null;
}
