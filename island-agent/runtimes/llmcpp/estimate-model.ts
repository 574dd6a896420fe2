import { GgufInsights } from "node-llama-cpp";
import type { MemoryUse } from "../runtime.ts";
import type { LoadRequest } from "./host-requests.ts";
import { contextSizeOf, llamaFailure, openLlama, readHeader } from "./open-llama.ts";

/**
 * What a process takes beside what llama.cpp counts, once it answers: buffers, compiled code. Measured with tiny-chat: 20 MB more
 * than at the time of the estimate (Linux x64, no GPU); the rest is room.
 */
const PROCESS_GROWTH_BYTES = 48 * 1_048_576;

/** What the model and its context will take, from the file's header. All layers go to the GPU, as far as VRAM reaches. @throws {JobFailure} */
export async function estimateModel(request: LoadRequest): Promise<MemoryUse> {
  const header = await readHeader(request.modelPath);
  const { llama, errors } = await openLlama(request);
  try {
    const insights = await GgufInsights.from(header, llama);
    const gpuLayers = llama.gpu === false ? 0 : insights.totalLayers;
    const model = await insights.estimateModelResourceRequirementsV2({ gpuLayers });
    const context = await insights.estimateContextResourceRequirementsV2({
      contextSize: contextSizeOf(request, insights.trainContextSize ?? request.contextTokens),
      modelGpuLayers: gpuLayers,
      sequences: request.sequences,
    });
    const ramBytes = process.memoryUsage.rss() + PROCESS_GROWTH_BYTES + model.cpuRam + context.cpuRam;
    const gpuBytes = model.gpuVram + context.gpuVram;
    const isShared = llama.gpu !== false && (await llama.getVramState()).unifiedSize > 0;
    if (isShared) return { ramBytes: ramBytes + gpuBytes, vramBytes: 0 };
    const vramBytes = Math.min(gpuBytes, request.vramCapBytes ?? gpuBytes);
    // Layers that VRAM does not hold stay in RAM.
    return { ramBytes: ramBytes + gpuBytes - vramBytes, vramBytes };
  } catch (cause) {
    throw llamaFailure("model_invalid", "the model's memory cannot be told", cause, errors);
  }
}
