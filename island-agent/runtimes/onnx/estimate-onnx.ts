import type { OnnxTask } from "../../../shared/onnx-task.ts";
import type { MemoryUse } from "../runtime.ts";
import type { LoadRequest } from "./host-requests.ts";
import { findWeights } from "./weight-files.ts";

const MB = 1_048_576;
/** ONNX Runtime keeps the file's weights and, beside them, those that it has laid out for the processor. */
const COPIES = 2;
const PROCESS_BYTES = 192 * MB;
/** What a run takes beside the weights. As the shipped Cargos' `memory.working_mb`, the largest of each task. */
const WORKING_BYTES: Readonly<Record<OnnxTask, number>> = {
  "text-classification": 128 * MB,
  "feature-extraction": 256 * MB,
  "token-classification": 128 * MB,
  "question-answering": 128 * MB,
  summarization: 384 * MB,
  translation: 256 * MB,
  "automatic-speech-recognition": 768 * MB,
  "text-to-speech": 384 * MB,
  "object-detection": 768 * MB,
  "image-segmentation": 1_024 * MB,
  "image-to-text": 512 * MB,
  "depth-estimation": 768 * MB,
  "zero-shot-classification": 192 * MB,
  "fill-mask": 128 * MB,
};
const TENSORS_WORKING_BYTES = 512 * MB;

/** What a load will take, from the sizes of the files; errs upwards. @throws {JobFailure} */
export async function estimateOnnx({ modelPath, task, weights, device }: LoadRequest): Promise<MemoryUse> {
  const { bytes } = await findWeights(modelPath, weights);
  const working = task === null ? TENSORS_WORKING_BYTES : WORKING_BYTES[task];
  const ramBytes = PROCESS_BYTES + COPIES * bytes + working;
  // Where a provider has memory of its own, what runs there is there too; whether it takes all of the graph is not known before.
  return { ramBytes, vramBytes: device === "cpu" || device === "coreml" ? 0 : bytes + working };
}
