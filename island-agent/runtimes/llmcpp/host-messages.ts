import type { ChatRequest } from "../../../shared/chat-input.ts";
import type { JobError } from "../../../shared/errors.ts";
import type { OutputItem } from "../../../shared/output.ts";
import type { ProbeResult, RunRequest, RunResult } from "../runtime.ts";

/** Which GPU back ends node-llama-cpp may use: the best that works here, or none. */
export type GpuChoice = "auto" | false;

/** What a host process needs to bring one model into memory. */
export interface LoadOrder {
  readonly modelPath: string;
  /** Tokens per sequence that the Cargo asks for; the model's own limit is applied by the host. */
  readonly contextTokens: number;
  readonly sequences: number;
  readonly threads: number;
  readonly gpu: GpuChoice;
}

/** Agent to host process. `run` is a number that the agent chooses, unique in the life of the host. */
export type ToHost =
  | { readonly kind: "probe"; readonly gpu: GpuChoice }
  | { readonly kind: "load"; readonly order: LoadOrder }
  | { readonly kind: "run"; readonly run: number; readonly request: ChatRequest; readonly resume: RunRequest["resume"] }
  | { readonly kind: "abort"; readonly run: number }
  /** Free everything and end. */
  | { readonly kind: "end" };

/** Output of one run that came in one turn of the host's event loop. */
export interface RunOutput {
  readonly run: number;
  readonly items: readonly OutputItem[];
}

/** Host process to agent. Each `run` gets exactly one of `finished`, `failed` and `aborted`, after its last output. */
export type FromHost =
  | { readonly kind: "probed"; readonly result: ProbeResult }
  | { readonly kind: "loaded"; readonly residentBytes: number; readonly contextTokens: number }
  | { readonly kind: "load_failed"; readonly error: JobError }
  | { readonly kind: "output"; readonly outputs: readonly RunOutput[] }
  | { readonly kind: "finished"; readonly run: number; readonly result: RunResult }
  | { readonly kind: "failed"; readonly run: number; readonly error: JobError }
  | { readonly kind: "aborted"; readonly run: number };
