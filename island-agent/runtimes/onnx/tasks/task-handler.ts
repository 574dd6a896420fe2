import type { WeightFormat } from "../../../../shared/cargo.ts";
import type { OnnxOutput, OnnxTask } from "../../../../shared/onnx-task.ts";
import type { FinishReason } from "../../../../shared/output.ts";
import type { OnnxInput } from "../onnx-input.ts";
import type { SessionGate } from "../session-gate.ts";

/** What a task may need beside its input. */
export interface TaskContext {
  /** The model's folder. */
  readonly modelPath: string;
  readonly weights: WeightFormat;
  readonly gate: SessionGate;
  /** Tells the client that `step` of `total` parts are done. */
  readonly onProgress: (step: number, total: number) => void;
}

export interface TaskAnswer<Task extends OnnxTask> {
  readonly output: OnnxOutput<Task>;
  /** Tokens of the text that the model read, special ones too; 0 and by default where it reads none. */
  readonly promptTokens?: number;
  /** Tokens that the model wrote, without the one that ends the text; 0 and by default where it writes none. */
  readonly completionTokens?: number;
  /** `length` when the text was cut off by its limit; `stop` by default. */
  readonly finishReason?: FinishReason;
}

/** Does one job of a task with a pipeline of transformers.js. @throws {JobFailure} */
export type TaskAnswerer<Task extends OnnxTask, Pipeline> = (
  pipeline: Pipeline,
  input: OnnxInput<Task>,
  context: TaskContext,
) => Promise<TaskAnswer<Task>>;
