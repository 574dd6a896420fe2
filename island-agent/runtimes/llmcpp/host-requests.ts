import type { TextTask } from "../../../shared/text-task.ts";

/** GPU back ends that node-llama-cpp may use: the best one that works here, or none. */
export type GpuChoice = "auto" | false;

export interface ProbeRequest {
  readonly gpu: GpuChoice;
  /** Folder of the back ends that the owner has added, or null. */
  readonly backEnds: string | null;
}

export interface LoadRequest {
  readonly modelPath: string;
  /** LoRA adapter files. */
  readonly adapters: readonly { readonly filePath: string; readonly scale: number }[];
  /** Task of the model; null for chats. */
  readonly task: TextTask | null;
  /** Whether the model reasons before it responds and the reasoning is delivered. */
  readonly reasoning: boolean;
  readonly toolTemplate: boolean;
  /** Tokens per sequence that the Cargo requires; the host reduces it to the model's limit. */
  readonly contextTokens: number;
  readonly sequences: number;
  readonly threads: number;
  readonly gpu: GpuChoice;
  readonly backEnds: string | null;
  /** Limit of GPU memory; null for all free memory. */
  readonly vramCapBytes: number | null;
}
