import { stat } from "node:fs/promises";
import { GgufInsights } from "node-llama-cpp";
import { MIB } from "../../../shared/format-bytes.ts";
import type { MemoryUse } from "../runtime.ts";
import type { LoadRequest } from "./host-requests.ts";
import { contextSizeOf, llamaFailure, openLlama, readHeader } from "./open-llama.ts";

/**
 * Growth of the process after the estimate that llama.cpp does not count: buffers and compiled code. Measured with
 * tiny-chat: 20 MB (Linux x64, no GPU); the rest is margin.
 */
const PROCESS_GROWTH_BYTES = 48 * MIB;

/** Estimates model and context memory from the file's header, with as many GPU layers as fit. @throws {JobFailure} */
export async function estimateModel(request: LoadRequest): Promise<MemoryUse> {
  const header = await readHeader(request.modelPath);
  const { llama, errors } = await openLlama(request);
  try {
    const insights = await GgufInsights.from(header, llama);
    const gpuLayers = llama.gpu === false ? 0 : insights.totalLayers;
    const model = await insights.estimateModelResourceRequirementsV2({ gpuLayers });
    const contextSize = contextSizeOf(request, insights.trainContextSize ?? request.contextTokens);
    const context = await insights.estimateContextResourceRequirementsV2({
      contextSize,
      modelGpuLayers: gpuLayers,
      ...(request.task === null
        ? { sequences: request.sequences }
        : { sequences: 1, batchSize: contextSize, isEmbeddingContext: true }),
    });
    const adapterSizes = await Promise.all(request.adapters.map(async ({ filePath }) => (await stat(filePath)).size));
    const adapterBytes = adapterSizes.reduce((sum, bytes) => sum + bytes, 0);
    const ramBytes = process.memoryUsage.rss() + PROCESS_GROWTH_BYTES + model.cpuRam + context.cpuRam + adapterBytes;
    const gpuBytes = model.gpuVram + context.gpuVram;
    const isShared = llama.gpu !== false && (await llama.getVramState()).unifiedSize > 0;
    if (isShared) return { ramBytes: ramBytes + gpuBytes, vramBytes: 0 };
    const vramBytes = Math.min(gpuBytes, request.vramCapBytes ?? gpuBytes);
    // Layers that do not fit into VRAM stay in RAM.
    return { ramBytes: ramBytes + gpuBytes - vramBytes, vramBytes };
  } catch (cause) {
    throw llamaFailure("model_invalid", "Cannot estimate the model's memory", cause, errors);
  }
}
