import type { TextTask } from "../../../shared/text-task.ts";

/** Which GPU back ends node-llama-cpp may use: the best one that works here, or none. */
export type GpuChoice = "auto" | false;

export interface ProbeRequest {
  readonly gpu: GpuChoice;
  /** Where the owner has added back ends; null: nowhere. */
  readonly backEnds: string | null;
}

/** What a host process needs to load one model. */
export interface LoadRequest {
  readonly modelPath: string;
  /** LoRA adapters, on disk. */
  readonly adapters: readonly { readonly filePath: string; readonly scale: number }[];
  /** null: chats. */
  readonly task: TextTask | null;
  /** The model thinks before it answers, and its thoughts are told. */
  readonly reasoning: boolean;
  /** Tokens per sequence that the Cargo asks for; the host lowers it to the model's own limit. */
  readonly contextTokens: number;
  readonly sequences: number;
  readonly threads: number;
  readonly gpu: GpuChoice;
  readonly backEnds: string | null;
  /** GPU memory that it may take at most; null: all that is free. */
  readonly vramCapBytes: number | null;
}
