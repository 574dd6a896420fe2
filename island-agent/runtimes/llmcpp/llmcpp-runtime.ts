import { chatInputSchema, chatRequestOf, type ChatRequest } from "../../../shared/chat-input.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { hostEntry } from "../host/host-process.ts";
import { type HostedRuntime, hostedRuntime, type HostingOptions } from "../host/hosted-runtime.ts";
import type { RunRequest } from "../runtime.ts";
import type { GpuChoice, LoadRequest, ProbeRequest } from "./host-requests.ts";

/** For a Cargo that does not say how much context it needs. */
const DEFAULT_CONTEXT_TOKENS = 4_096;
const DEFAULT_SEQUENCES = 4;
/** libuv threads for file reads and model loading, on top of one for each sequence that is sampled. */
const SPARE_POOL_THREADS = 4;

export interface LlmcppOptions extends HostingOptions {
  /** CPU threads of one model, at least 1: physical cores less one. More threads than cores make it many times slower. */
  readonly threads: number;
  /** Runs of one model that are batched; each has a context of its own in memory. Default 4. */
  readonly sequences?: number;
  readonly gpu: GpuChoice;
  /** The owner's cap on VRAM. Default null: no cap. */
  readonly vramCapBytes?: number | null;
  /** Where the owner has added back ends (`back-ends.ts`). Default null: nowhere. */
  readonly backEnds?: string | null;
}

/** Language models in GGUF files, run by llama.cpp. */
export function llmcppRuntime(options: LlmcppOptions): HostedRuntime {
  const { threads, gpu, sequences = DEFAULT_SEQUENCES, vramCapBytes = null, backEnds = null } = options;
  return hostedRuntime<ProbeRequest, LoadRequest, ChatRequest>(
    {
      type: "llmcpp",
      program: {
        name: "llama.cpp",
        entry: hostEntry("llama-host", import.meta.url),
        environment: {
          UV_THREADPOOL_SIZE: String(sequences + SPARE_POOL_THREADS),
          // Otherwise llama.cpp starts a debugger to print a backtrace when it aborts.
          GGML_NO_BACKTRACE: "1",
        },
        readable: backEnds === null ? [] : [backEnds],
        explainCrash: assertionIn,
      },
      probeRequest: { gpu, backEnds },
      loadRequest: (cargo, modelPath) => ({
        modelPath,
        contextTokens: cargo.contextTokens ?? DEFAULT_CONTEXT_TOKENS,
        sequences,
        threads,
        gpu,
        vramCapBytes,
        backEnds,
      }),
      concurrency: () => sequences,
      canResume: true,
      readInput,
    },
    options,
  );
}

/** @throws {JobFailure} `invalid_input`, naming the first wrong field. */
function readInput(input: RunRequest["input"]): ChatRequest {
  const parsed = chatInputSchema.safeParse(input);
  if (parsed.success) return chatRequestOf(parsed.data);
  const [issue] = parsed.error.issues;
  throw new JobFailure("invalid_input", `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is not chat input"}`);
}

/** The assertion that llama.cpp printed, without the path of its source file. */
function assertionIn(stderr: string): string {
  return /GGML_ASSERT\(.*\) failed/.exec(stderr)?.[0] ?? "";
}
