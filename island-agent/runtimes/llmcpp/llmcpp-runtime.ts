import type { CargoManifest } from "../../../shared/cargo.ts";
import type { ChatRequest } from "../../../shared/chat-input.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { TEXT_TASKS, type TextTask } from "../../../shared/text-task.ts";
import { hostEntry } from "../host/host-process.ts";
import { type HostedRuntime, hostedRuntime, type HostingOptions } from "../host/hosted-runtime.ts";
import type { RunRequest } from "../runtime.ts";
import { readChat, readTask } from "../text-input.ts";
import type { GpuChoice, LoadRequest, ProbeRequest } from "./host-requests.ts";
import type { TextJob } from "./load-text-model.ts";

/** Context size of a Cargo that does not specify one. */
const DEFAULT_CONTEXT_TOKENS = 4_096;
const DEFAULT_SEQUENCES = 4;
/** libuv threads for file reads and model loading, in addition to one per sampled sequence. */
const SPARE_POOL_THREADS = 4;

export interface LlmcppOptions extends HostingOptions {
  /** CPU threads of one model, at least 1: one less than the physical cores. More threads than cores are far slower. */
  readonly threads: number;
  /** Maximum number of batched runs of one model; each has its own context in memory. Default 4. */
  readonly sequences?: number;
  readonly gpu: GpuChoice;
  /** The owner's cap on VRAM. Default null, for no cap. */
  readonly vramCapBytes?: number | null;
  /** Folder of the back ends that the owner has added (`back-ends.ts`). Default null. */
  readonly backEnds?: string | null;
}

/** Runs language models in GGUF files with llama.cpp. */
export function llmcppRuntime(options: LlmcppOptions): HostedRuntime {
  const { threads, gpu, sequences = DEFAULT_SEQUENCES, vramCapBytes = null, backEnds = null } = options;
  return hostedRuntime<ProbeRequest, LoadRequest, ChatRequest | TextJob>(
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
      loadRequest: (cargo, modelPath, adapterPaths) => ({
        modelPath,
        adapters: adapterPaths.map((filePath, index) => ({ filePath, scale: cargo.adapters?.[index]?.scale ?? 1 })),
        task: taskOfCargo(cargo),
        reasoning: cargo.reasoning === true,
        toolTemplate: cargo.tools === "template",
        contextTokens: cargo.contextTokens ?? DEFAULT_CONTEXT_TOKENS,
        sequences,
        threads,
        gpu,
        vramCapBytes,
        backEnds,
      }),
      // Embeddings and scores are computed one text at a time.
      concurrency: ({ task }) => (task === null ? sequences : 1),
      canResume: true,
      readInput: (input, { task }) => (task === null ? readTextChat(input) : readTask(task, input)),
    },
    options,
  );
}

/** @throws {JobFailure} `runtime_unavailable` for a task that only newer agents know. */
function taskOfCargo({ task: name }: CargoManifest): TextTask | null {
  if (name === undefined) return null;
  const task = TEXT_TASKS.find((each) => each === name);
  if (task !== undefined) return task;
  throw new JobFailure("runtime_unavailable", `This Island does not support the task ${name}`, { retryable: true });
}

/** @throws {JobFailure} `runtime_unavailable` for a chat with images, which node-llama-cpp does not read */
function readTextChat(input: RunRequest["input"]): ChatRequest {
  const chat = readChat(input);
  if (chat.messages.every(({ parts }) => parts === undefined)) return chat;
  throw new JobFailure("runtime_unavailable", "This Island reads no images for this Cargo", { retryable: true });
}

/** Returns the assertion that llama.cpp printed, without the path of its source file. */
function assertionIn(stderr: string): string {
  return /GGML_ASSERT\(.*\) failed/.exec(stderr)?.[0] ?? "";
}
