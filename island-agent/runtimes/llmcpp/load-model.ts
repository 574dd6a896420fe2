import {
  getLlama,
  InsufficientMemoryError,
  type Llama,
  LlamaLogLevel,
  type LlamaModel,
  readGgufFileInfo,
} from "node-llama-cpp";
import { JobFailure, type JobErrorCode } from "../../../shared/errors.ts";
import { BatchHolder } from "./batching.ts";
import { ChatModel } from "./chat-model.ts";
import type { LoadOrder } from "./host-messages.ts";

/** Most lines of llama.cpp's errors that are kept to say why a model was refused. */
const ERRORS_KEPT = 3;

export interface LoadedChatModel {
  readonly chatModel: ChatModel;
  /** Context of one sequence: what the Cargo asks for, at most what the model was made for. */
  readonly contextTokens: number;
  dispose(): Promise<void>;
}

/** Brings a GGUF file into memory with a context of several sequences. @throws {JobFailure} */
export async function loadChatModel(order: LoadOrder): Promise<LoadedChatModel> {
  const errors: string[] = [];
  const llama = await getLlama({
    gpu: order.gpu,
    build: "never",
    skipDownload: true,
    progressLogs: false,
    maxThreads: order.threads,
    logLevel: LlamaLogLevel.error,
    logger: (_level, message) => {
      errors.push(message.trim());
      if (errors.length > ERRORS_KEPT) errors.shift();
    },
  }).catch((cause: unknown) => {
    throw failureOf("runtime_unavailable", "llama.cpp cannot run here", cause, []);
  });
  const model = await readModel(llama, order.modelPath, errors);
  // node-llama-cpp 3.22.1 checks memory before it makes a context, but a size beyond all measure slips past the check (500 million
  // tokens ended the process at 24 GB): the clamp is ours.
  const contextSize = Math.max(1, Math.min(order.contextTokens, model.trainContextSize));
  const holder = new BatchHolder();
  const context = await model
    .createContext({
      contextSize,
      sequences: order.sequences,
      threads: order.threads,
      batching: { itemPrioritizationStrategy: holder.strategy },
    })
    .catch((cause: unknown) => {
      throw failureOf("runtime_unavailable", `no context of ${order.sequences} x ${contextSize} tokens`, cause, errors);
    });
  holder.attach(context);
  return {
    chatModel: new ChatModel({ llama, model, context, holder }),
    contextTokens: context.contextSize,
    dispose: () => llama.dispose(),
  };
}

async function readModel(llama: Llama, modelPath: string, errors: readonly string[]): Promise<LlamaModel> {
  await readGgufFileInfo(modelPath, { sourceType: "filesystem", logWarnings: false }).catch((cause: unknown) => {
    throw failureOf("model_invalid", "not a readable GGUF file", cause, []);
  });
  return llama.loadModel({ modelPath }).catch((cause: unknown) => {
    throw failureOf("model_invalid", "llama.cpp refused the model", cause, errors);
  });
}

/** A failure by `otherwise`, unless the cause is memory or the disk, which other Islands may have. */
function failureOf(otherwise: JobErrorCode, what: string, cause: unknown, errors: readonly string[]): JobFailure {
  const why = cause instanceof Error ? cause.message : String(cause);
  const details = [why, ...errors].filter((line) => line !== "").join("; ");
  const code = codeOf(cause) ?? otherwise;
  return new JobFailure(code, `${what}: ${details}`, { retryable: code !== "model_invalid", cause });
}

function codeOf(cause: unknown): JobErrorCode | undefined {
  if (cause instanceof InsufficientMemoryError) return "out_of_memory";
  // An error of the file system has a number too; the library's own errors have none.
  if (cause instanceof Error && "errno" in cause) return "model_unavailable";
  return undefined;
}
