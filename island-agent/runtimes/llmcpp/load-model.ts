import type { Llama, LlamaModel } from "node-llama-cpp";
import type { ChatRequest } from "../../../shared/chat-input.ts";
import { systemClock } from "../../../shared/clock.ts";
import { JobFailure } from "../../../shared/errors.ts";
import type { HostedModel } from "../host/serve-host.ts";
import { BatchLoop } from "./batch-loop.ts";
import { ChatModel } from "./chat-model.ts";
import type { LoadRequest } from "./host-requests.ts";
import { rendersTools } from "./tools/tool-template.ts";
import { contextSizeOf, llamaFailure, openLlama, type OpenLlama, readHeader } from "./open-llama.ts";

/** Loads a GGUF file with a context of several sequences. @throws {JobFailure} */
export async function loadChatModel(request: LoadRequest): Promise<HostedModel<ChatRequest>> {
  const { llama, errors } = await openLlama(request);
  const gpuBefore = await gpuMemoryUsed(llama);
  for (const { filePath } of request.adapters) await readHeader(filePath);
  const model = await readModel({ llama, errors }, request);
  if (request.toolTemplate && !rendersTools(model)) {
    throw new JobFailure("model_invalid", "The model's chat template does not render tools in the Hermes format");
  }
  // Limit the size here. node-llama-cpp 3.22.1 checks memory before it creates a context, but huge sizes evade the
  // check (500 million tokens ended the process at 24 GB).
  const contextSize = contextSizeOf(request, model.trainContextSize);
  const context = await model
    .createContext({
      contextSize,
      sequences: request.sequences,
      threads: request.threads,
      ...(request.adapters.length === 0 ? {} : { lora: { adapters: [...request.adapters] } }),
    })
    .catch((cause: unknown) => {
      // Adapters are loaded with the context. Without adapters, the cause is this host.
      const hasAdapters = request.adapters.length > 0;
      const what = `Cannot create a context of ${request.sequences} x ${contextSize} tokens${hasAdapters ? " with the adapters" : ""}`;
      throw llamaFailure(hasAdapters ? "model_invalid" : "runtime_unavailable", what, cause, errors);
    });
  const loop = BatchLoop.over(context, systemClock);
  const chatModel = new ChatModel({
    llama,
    model,
    context,
    loop,
    clock: systemClock,
    canThink: request.reasoning,
    rendersTools: request.toolTemplate,
  });
  const gpuAfter = await gpuMemoryUsed(llama);
  const gpuBytes = Math.max(0, (gpuAfter?.bytes ?? 0) - (gpuBefore?.bytes ?? 0));
  return {
    facts: {
      contextTokens: context.contextSize,
      sequences: request.sequences,
      ...(request.reasoning ? { reasoning: true } : {}),
      ...(request.adapters.length === 0 ? {} : { adapters: request.adapters.length }),
    },
    gpuMemory: gpuAfter === null ? null : { ...gpuAfter, bytes: gpuBytes },
    run: (run, onOutput, signal, { onPrompt, onWorking }) =>
      loop.withBatches(onWorking, () => chatModel.run(run, { onOutput, onPrompt }, signal)),
    dispose: () => loop.close().then(() => llama.dispose()),
  };
}

/** @throws {JobFailure} */
export async function readModel({ llama, errors }: OpenLlama, { modelPath }: LoadRequest): Promise<LlamaModel> {
  await readHeader(modelPath);
  return llama.loadModel({ modelPath }).catch((cause: unknown) => {
    throw llamaFailure("model_invalid", "llama.cpp refused the model", cause, errors);
  });
}

/** Returns the GPU memory in use by all processes; null without a GPU. */
export async function gpuMemoryUsed(llama: Llama): Promise<HostedModel<ChatRequest>["gpuMemory"]> {
  if (llama.gpu === false) return null;
  const { used, unifiedSize } = await llama.getVramState();
  return { bytes: used, isShared: unifiedSize > 0 };
}
