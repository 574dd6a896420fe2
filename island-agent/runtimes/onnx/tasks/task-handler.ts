import type { WeightFormat } from "../../../../shared/cargo.ts";
import type { OnnxOutput, OnnxTask } from "../../../../shared/onnx-task.ts";
import type { FinishReason } from "../../../../shared/output.ts";
import type { OnnxInput } from "../onnx-input.ts";
import type { SessionGate } from "../session-gate.ts";

export interface TaskContext {
  readonly modelPath: string;
  readonly weights: WeightFormat;
  readonly gate: SessionGate;
  /** Reports to the client that `step` of `total` parts are done. */
  readonly onProgress: (step: number, total: number) => void;
}

export interface TaskResult<Task extends OnnxTask> {
  readonly output: OnnxOutput<Task>;
  /** Number of tokens of the input text, including special tokens. Default 0. */
  readonly promptTokens?: number;
  /** Number of generated tokens, without the end token. Default 0. */
  readonly completionTokens?: number;
  /** Reason of the end: `length` when the limit has cut the text off. Default `stop`. */
  readonly finishReason?: FinishReason;
}

/** Runs one job of a task on a transformers.js pipeline. @throws {JobFailure} */
export type TaskHandler<Task extends OnnxTask, Pipeline> = (
  pipeline: Pipeline,
  input: OnnxInput<Task>,
  context: TaskContext,
) => Promise<TaskResult<Task>>;
