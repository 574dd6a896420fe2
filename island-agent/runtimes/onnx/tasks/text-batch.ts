import type { WeightFormat } from "../../../../shared/cargo.ts";
import type { OnnxOutput, OnnxTask } from "../../../../shared/onnx-task.ts";
import type { OnnxInput } from "../onnx-input.ts";
import { countPromptTokens, type TextPipeline } from "./count-prompt-tokens.ts";
import type { TaskContext, TaskHandler, TaskResult } from "./task-handler.ts";

/** Maximum number of tokens of a batch, including padding. Larger batches take more memory without being faster. */
const MAX_BATCH_TOKENS = 4_096;
/**
 * Formats whose graphs scale activations by the minimum and maximum of the whole batch (DynamicQuantizeLinear). A
 * text's result would depend on the rest of its batch, so each text is run separately.
 */
const SCALED_BY_BATCH: ReadonlySet<WeightFormat> = new Set(["q8", "int8", "uint8"]);

/** A task that returns a result for each text of its input, several in one call of the model. */
interface TextBatchTask<Task extends OnnxTask, Pipeline extends TextPipeline, Row> {
  /** Texts, with their names in messages. */
  texts(input: OnnxInput<Task>): readonly { readonly field: string; readonly text: string }[];
  /** Calls the model once and returns a row for each text. */
  rows(pipe: Pipeline, texts: readonly string[], input: OnnxInput<Task>): Promise<readonly Row[]>;
  /** @param rows of the input's texts, in their order. */
  output(input: OnnxInput<Task>, rows: readonly Row[]): OnnxOutput<Task>;
}

/** Runs a task's jobs one at a time, or several in the same calls. */
export interface BatchedHandler<Task extends OnnxTask, Pipeline> {
  readonly handler: TaskHandler<Task, Pipeline>;
  /** @param inputs of several jobs that differ only in their texts. */
  readonly together: (
    pipe: Pipeline,
    inputs: readonly OnnxInput<Task>[],
    context: TaskContext,
  ) => Promise<TaskResult<Task>[]>;
}

export function batched<Task extends OnnxTask, Pipeline extends TextPipeline, Row>(
  task: TextBatchTask<Task, Pipeline, Row>,
): BatchedHandler<Task, Pipeline> {
  async function together(
    pipe: Pipeline,
    inputs: readonly OnnxInput<Task>[],
    { weights, onProgress }: TaskContext,
  ): Promise<TaskResult<Task>[]> {
    const [options] = inputs;
    if (options === undefined) return [];
    const texts = inputs.flatMap((input, job) =>
      task.texts(input).map(({ field, text }) => ({ job, text, tokens: countPromptTokens(pipe, field, text) })),
    );
    const sizes = texts.map(({ tokens }) => tokens);
    const rows: Row[] = [];
    let done = 0;
    for (const batch of planBatches(sizes, SCALED_BY_BATCH.has(weights) ? 0 : MAX_BATCH_TOKENS)) {
      const contents = batch.map((index) => texts[index]?.text ?? "");
      const some = await task.rows(pipe, contents, options);
      for (const [i, index] of batch.entries()) rows[index] = some[i] as Row;
      done += batch.length;
      onProgress(done, texts.length);
    }
    return inputs.map((input, job) => {
      const own = [...texts.keys()].filter((index) => texts[index]?.job === job);
      return {
        output: task.output(
          input,
          own.map((index) => rows[index] as Row),
        ),
        promptTokens: own.reduce((sum, index) => sum + (sizes[index] ?? 0), 0),
      };
    });
  }

  return {
    together,
    async handler(pipe, input, context) {
      const [result] = await together(pipe, [input], context);
      return result as TaskResult<Task>;
    },
  };
}

/**
 * Groups texts of similar length into batches and returns their indices. A batch padded to its longest text has at most
 * `batchTokens` tokens, unless it is a single text.
 */
export function planBatches(sizes: readonly number[], batchTokens: number): number[][] {
  const batches: number[][] = [];
  let batch: number[] = [];
  for (const index of [...sizes.keys()].sort((a, b) => (sizes[a] ?? 0) - (sizes[b] ?? 0))) {
    if (batch.length > 0 && (batch.length + 1) * (sizes[index] ?? 0) > batchTokens) {
      batches.push(batch);
      batch = [];
    }
    batch.push(index);
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}
