import type { TextTask } from "../../../shared/text-task.ts";

/** GPU back ends that node-llama-cpp may use: the best one that works here, or none. */
export type GpuChoice = "auto" | false;

export interface ProbeRequest {
  readonly gpu: GpuChoice;
  /** Folder of the back ends that the owner has added; null: none. */
  readonly backEnds: string | null;
}

/** Request to load one model in a host process. */
export interface LoadRequest {
  readonly modelPath: string;
  /** LoRA adapter files. */
  readonly adapters: readonly { readonly filePath: string; readonly scale: number }[];
  /** Null: chats. */
  readonly task: TextTask | null;
  /** True if the model reasons before it responds, and the reasoning is delivered. */
  readonly reasoning: boolean;
  /** True if the model's template renders tools. */
  readonly toolTemplate: boolean;
  /** Tokens per sequence that the Cargo requires; the host reduces it to the model's limit. */
  readonly contextTokens: number;
  readonly sequences: number;
  readonly threads: number;
  readonly gpu: GpuChoice;
  readonly backEnds: string | null;
  /** Limit of GPU memory; null: all free memory. */
  readonly vramCapBytes: number | null;
}
