import {
  getLlama,
  type GgufFileInfo,
  InsufficientMemoryError,
  type Llama,
  LlamaLogLevel,
  readGgufFileInfo,
} from "node-llama-cpp";
import { JobFailure, type JobErrorCode } from "../../../shared/errors.ts";
import { loadBackEndsFrom } from "./back-ends.ts";
import type { LoadRequest } from "./host-requests.ts";

/** Number of lines of llama.cpp's error log kept for the message when it rejects a model. */
const MAX_ERRORS_KEPT = 3;

export interface OpenLlama {
  readonly llama: Llama;
  /** Most recent lines that llama.cpp logged as errors. */
  readonly errors: readonly string[];
}

let opened: Promise<OpenLlama> | undefined;

/**
 * Starts llama.cpp with the request's threads and VRAM cap. There is one instance per process: the load uses that of
 * the estimate.
 * @throws {JobFailure} `runtime_unavailable`
 */
export function openLlama(request: LoadRequest): Promise<OpenLlama> {
  return (opened ??= startLlama(request));
}

async function startLlama({ gpu, threads, vramCapBytes, backEnds }: LoadRequest): Promise<OpenLlama> {
  const errors: string[] = [];
  try {
    if (backEnds !== null) loadBackEndsFrom(backEnds);
    const llama = await getLlama({
      gpu,
      build: "never",
      skipDownload: true,
      progressLogs: false,
      maxThreads: threads,
      logLevel: LlamaLogLevel.error,
      logger: (_level, message) => {
        errors.push(message.trim());
        if (errors.length > MAX_ERRORS_KEPT) errors.shift();
      },
    });
    if (vramCapBytes !== null) await llama.setVramCap(vramCapBytes);
    return { llama, errors };
  } catch (cause) {
    throw llamaFailure("runtime_unavailable", "llama.cpp cannot run here", cause, []);
  }
}

/** @throws {JobFailure} `model_invalid` */
export function readHeader(modelPath: string): Promise<GgufFileInfo> {
  return readGgufFileInfo(modelPath, { sourceType: "filesystem", logWarnings: false }).catch((cause: unknown) => {
    throw llamaFailure("model_invalid", "The model is not a readable GGUF file", cause, []);
  });
}

/** Returns the context tokens of a sequence: the Cargo's requirement, at most the model's training context. */
export function contextSizeOf({ contextTokens }: LoadRequest, trainedTokens: number): number {
  return Math.max(1, Math.min(contextTokens, trainedTokens));
}

/** Returns a failure with the code `otherwise`, or a retryable one when the cause is this Island's memory or disk. */
export function llamaFailure(
  otherwise: JobErrorCode,
  what: string,
  cause: unknown,
  errors: readonly string[],
): JobFailure {
  const why = cause instanceof Error ? cause.message : String(cause);
  const details = [why, ...errors].filter((line) => line !== "").join("; ");
  const code = codeOf(cause) ?? otherwise;
  return new JobFailure(code, `${what}: ${details}`, { retryable: code !== "model_invalid", cause });
}

function codeOf(cause: unknown): JobErrorCode | undefined {
  if (cause instanceof InsufficientMemoryError) return "out_of_memory";
  // Only file system errors have an `errno`.
  if (cause instanceof Error && "errno" in cause) return "model_unavailable";
  return undefined;
}
