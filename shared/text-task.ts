import { z } from "zod";
import { ONNX_OUTPUTS } from "./onnx-task.ts";

/** Tasks of `llmcpp` Cargos that do not chat, with names of the model hub. */
export const TEXT_TASKS = ["feature-extraction", "text-ranking"] as const;
export type TextTask = (typeof TEXT_TASKS)[number];

/** Maximum number of texts of a job. */
export const MAX_TEXTS = 2_048;
export const MAX_DOCUMENTS = 1_000;

const text = z.string().min(1, "is empty");

/** Input of each task. The input of feature-extraction is what `POST /embeddings` sends, as for `onnx` Cargos. */
export const TEXT_TASK_INPUTS = {
  "feature-extraction": z.strictObject({
    input: z
      .union([text, z.array(text).min(1).max(MAX_TEXTS)])
      .describe(`A text, or a list of 1 to ${MAX_TEXTS} texts, none empty`),
    normalize: z.boolean().default(true).describe("Whether each vector gets the length 1"),
  }),
  "text-ranking": z.strictObject({
    query: text,
    documents: z.array(text).min(1).max(MAX_DOCUMENTS),
  }),
} satisfies Record<TextTask, z.ZodType>;
export type TextTaskInput<Task extends TextTask> = z.output<(typeof TEXT_TASK_INPUTS)[Task]>;

export const TEXT_TASK_OUTPUTS = {
  "feature-extraction": ONNX_OUTPUTS["feature-extraction"],
  "text-ranking": z.object({
    scores: z
      .array(z.number().min(0).max(1))
      .describe("How well each document answers the query, 0 to 1, in the order of `documents`"),
  }),
} satisfies Record<TextTask, z.ZodType>;

/**
 * Returns the vectors of a feature-extraction output; undefined unless there are `count` vectors of the same length.
 */
export function vectorsOf(output: unknown, count: number): number[][] | undefined {
  const { data } = TEXT_TASK_OUTPUTS["feature-extraction"].safeParse(output);
  const vectors = data?.embeddings ?? [];
  const length = vectors[0]?.length ?? 0;
  const isWhole = vectors.length === count && length > 0 && vectors.every((vector) => vector.length === length);
  return isWhole ? vectors : undefined;
}

/** Returns the task of a Cargo of any runtime; null for a chat Cargo and for a Cargo without a task. */
export function taskOf({
  task,
  onnxTaskType,
}: {
  task?: string | undefined;
  onnxTaskType: string | null;
}): string | null {
  return task ?? onnxTaskType;
}
