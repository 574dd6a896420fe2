import type { OnnxTask } from "../../../shared/onnx-task.ts";
import type { Batching } from "../host/batching-cargo.ts";
import type { OnnxInput } from "./onnx-input.ts";

/**
 * Maximum number of UTF-16 units of a run's texts, including padding; about four units are a token. Only small jobs
 * share a run, because each job waits for all of them.
 */
const MAX_CHARACTERS = 4_096;
const MAX_JOBS = 16;

/** Returns how small jobs of a task share runs. Each task takes texts and returns a result for each. */
export function batchingOf(task: OnnxTask | null): Batching | null {
  const bounds = { maxJobs: MAX_JOBS, maxArea: MAX_CHARACTERS };
  if (task === "feature-extraction") {
    const shareOf = (job: unknown): ReturnType<Batching["shareOf"]> => {
      const { input, pooling, normalize } = job as OnnxInput<"feature-extraction">;
      return pooling === "none" ? null : shareOfTexts(`${pooling} ${normalize}`, [input].flat());
    };
    return { ...bounds, shareOf };
  }
  if (task === "text-classification") {
    const shareOf = (job: unknown): ReturnType<Batching["shareOf"]> => {
      const { text, top_k: count } = job as OnnxInput<"text-classification">;
      return shareOfTexts(String(count), [text]);
    };
    return { ...bounds, shareOf };
  }
  return null;
}

function shareOfTexts(key: string, texts: readonly string[]): ReturnType<Batching["shareOf"]> {
  const longest = texts.reduce((most, { length }) => Math.max(most, length), 0);
  return texts.length * longest > MAX_CHARACTERS ? null : { key, rows: texts.length, longest };
}
