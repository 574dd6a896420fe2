import { type AllTasks, env, LogLevel, pipeline } from "@huggingface/transformers";
import { JobFailure } from "../../../shared/errors.ts";
import type { JsonValue } from "../../../shared/json-value.ts";
import { ONNX_OUTPUTS, type OnnxTask } from "../../../shared/onnx-task.ts";
import type { HostedModel } from "../host/serve-host.ts";
import type { RunResult } from "../runtime.ts";
import { embedTexts } from "./tasks/feature-extraction.ts";
import { gpuMemoryOf, providersFor } from "./execution-providers.ts";
import type { LoadRequest } from "./host-requests.ts";
import { onnxFailure } from "./onnx-failure.ts";
import type { OnnxInput, OnnxJob } from "./onnx-input.ts";
import { answerQuestion, classifyByLabels, classifyText, classifyTokens, fillMask } from "./tasks/text-tasks.ts";
import { recogniseSpeech } from "./tasks/automatic-speech-recognition.ts";
import { detectObjects, estimateDepth, segmentImage } from "./tasks/image-tasks.ts";
import { SessionGate } from "./session-gate.ts";
import { speakText } from "./tasks/text-to-speech.ts";
import type { TaskAnswerer, TaskContext } from "./tasks/task-handler.ts";
import { findWeights } from "./weight-files.ts";
import { describeImage, summarise, translate } from "./tasks/generation-tasks.ts";

type Part = "tokenizer" | "processor";
interface TaskWay<Task extends OnnxTask> {
  /** Beside the model; transformers.js leaves out what the folder lacks, and fails with the first job. */
  readonly needs: readonly Part[];
  readonly answer: TaskAnswerer<Task, AllTasks[Task]>;
}

/** How each task is done. */
const TASKS: { readonly [Task in OnnxTask]: TaskWay<Task> } = {
  "text-classification": { needs: ["tokenizer"], answer: classifyText },
  "feature-extraction": { needs: ["tokenizer"], answer: embedTexts },
  "token-classification": { needs: ["tokenizer"], answer: classifyTokens },
  "question-answering": { needs: ["tokenizer"], answer: answerQuestion },
  summarization: { needs: ["tokenizer"], answer: summarise },
  translation: { needs: ["tokenizer"], answer: translate },
  "automatic-speech-recognition": { needs: ["tokenizer", "processor"], answer: recogniseSpeech },
  "text-to-speech": { needs: ["tokenizer"], answer: speakText },
  "object-detection": { needs: ["processor"], answer: detectObjects },
  "image-segmentation": { needs: ["processor"], answer: segmentImage },
  "image-to-text": { needs: ["tokenizer", "processor"], answer: describeImage },
  "depth-estimation": { needs: ["processor"], answer: estimateDepth },
  "zero-shot-classification": { needs: ["tokenizer"], answer: classifyByLabels },
  "fill-mask": { needs: ["tokenizer"], answer: fillMask },
};
const FILES_OF: Readonly<Record<Part, string>> = {
  tokenizer: "tokenizer.json and tokenizer_config.json",
  processor: "preprocessor_config.json",
};

/** Nothing but the model's own folder is read, and nothing is written, not even messages: they quote inputs. */
function stayLocal(): void {
  Object.assign(env, { allowRemoteModels: false, allowLocalModels: true, useFSCache: false, useBrowserCache: false });
  env.fetch = () => Promise.reject(new Error("models are not fetched here"));
  env.logLevel = LogLevel.NONE;
}

/** Brings a model of one task into memory with all that is around it. @throws {JobFailure} */
export async function loadTaskModel<Task extends OnnxTask>(
  request: LoadRequest,
  task: Task,
): Promise<HostedModel<OnnxJob>> {
  const { modelPath, threads, device } = request;
  stayLocal();
  const { format, graphs, bytes } = await findWeights(modelPath, request.weights);
  if (graphs[0] === modelPath) throw new JobFailure("model_invalid", `The model is one file; ${task} needs a folder`);
  const providers = await providersFor(device);
  const gate = await SessionGate.install({ intraOpNumThreads: threads, interOpNumThreads: 1 });
  const pipe = await openPipeline(task, modelPath, {
    dtype: format,
    device: providers[0] ?? "cpu",
    local_files_only: true,
    session_options: { executionProviders: providers },
  });
  const { answer } = TASKS[task] as TaskWay<Task>;

  async function run(job: OnnxJob, context: TaskContext): Promise<RunResult> {
    try {
      const answered = await answer(pipe, job as OnnxInput<Task>, context);
      const { output, promptTokens = 0, completionTokens = 0, finishReason = "stop" } = answered;
      return { output: checkOutput(task, output), finishReason, usage: { promptTokens, completionTokens } };
    } catch (error) {
      throw onnxFailure("model_invalid", "The model failed on this input", error, modelPath);
    }
  }

  return {
    facts: { task, weights: format, providers, threads },
    gpuMemory: gpuMemoryOf(providers, bytes),
    run: ({ job }, onOutput, signal) => {
      const onProgress = (step: number, total: number): void => onOutput({ type: "progress", step, total });
      return gate.during(signal, () => run(job, { modelPath, weights: format, gate, onProgress }));
    },
    dispose: () => pipe.dispose(),
  };
}

/** @throws {JobFailure} */
async function openPipeline<Task extends OnnxTask>(
  task: Task,
  modelPath: string,
  options: Parameters<typeof pipeline>[2] & object,
): Promise<AllTasks[Task]> {
  try {
    const pipe = await pipeline(task, modelPath, options);
    const parts: Partial<Record<Part, unknown>> = pipe;
    const missing = TASKS[task].needs.find((part) => parts[part] === null || parts[part] === undefined);
    if (missing !== undefined) throw new JobFailure("model_invalid", `The model's folder lacks ${FILES_OF[missing]}`);
    return pipe;
  } catch (error) {
    throw onnxFailure("model_invalid", "ONNX Runtime refused the model", error, modelPath);
  }
}

/** Numbers that are none, as a broken model gives them, would be lost on the way as JSON. @throws {Error} */
function checkOutput(task: OnnxTask, output: unknown): JsonValue {
  const checked = ONNX_OUTPUTS[task].safeParse(output);
  if (checked.success) return checked.data as JsonValue;
  const [issue] = checked.error.issues;
  throw new Error(`its answer is wrong at ${issue?.path.join(".")}: ${issue?.message}`);
}
