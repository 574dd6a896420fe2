import { MIB } from "../../../shared/format-bytes.ts";
import type { OnnxTask } from "../../../shared/onnx-task.ts";
import type { MemoryUse } from "../runtime.ts";
import type { LoadRequest } from "./host-requests.ts";
import { findWeights } from "./weight-files.ts";

/** ONNX Runtime keeps the file's weights and a copy laid out for the processor. */
const COPIES = 2;
const PROCESS_BYTES = 192 * MIB;
/** Memory of a run besides the weights: for each task the largest `memory.working_mb` of the shipped Cargos. */
const WORKING_BYTES: Readonly<Record<OnnxTask, number>> = {
  "text-classification": 128 * MIB,
  "feature-extraction": 256 * MIB,
  "token-classification": 128 * MIB,
  "question-answering": 128 * MIB,
  summarization: 384 * MIB,
  translation: 256 * MIB,
  "automatic-speech-recognition": 768 * MIB,
  "text-to-speech": 384 * MIB,
  "object-detection": 768 * MIB,
  "image-segmentation": 1_024 * MIB,
  "image-to-text": 512 * MIB,
  "depth-estimation": 768 * MIB,
  "zero-shot-classification": 192 * MIB,
  "fill-mask": 128 * MIB,
};
const TENSORS_WORKING_BYTES = 512 * MIB;

/** Memory of a load, from the sizes of the files; rather too much than too little. @throws {JobFailure} */
export async function estimateOnnx({ modelPath, task, weights, device }: LoadRequest): Promise<MemoryUse> {
  const { bytes } = await findWeights(modelPath, weights);
  const working = task === null ? TENSORS_WORKING_BYTES : WORKING_BYTES[task];
  const ramBytes = PROCESS_BYTES + COPIES * bytes + working;
  // On a provider with its own memory, count everything there too: how much of the graph runs there is not known in advance.
  return { ramBytes, vramBytes: device === "cpu" || device === "coreml" ? 0 : bytes + working };
}
