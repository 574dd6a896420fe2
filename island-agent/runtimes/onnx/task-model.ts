import { type AllTasks, env, LogLevel, pipeline } from "@huggingface/transformers";
import { JobFailure } from "../../../shared/errors.ts";
import type { JsonValue } from "../../../shared/json-value.ts";
import { ONNX_OUTPUTS, type OnnxTask } from "../../../shared/onnx-task.ts";
import type { JobBatch } from "../host/batching-cargo.ts";
import type { HostedModel } from "../host/serve-host.ts";
import type { RunResult } from "../runtime.ts";
import { featureExtraction } from "./tasks/feature-extraction.ts";
import { gpuMemoryOf, providersFor } from "./execution-providers.ts";
import type { LoadRequest } from "./host-requests.ts";
import { onnxFailure } from "./onnx-failure.ts";
import type { OnnxInput, OnnxJob } from "./onnx-input.ts";
import {
  questionAnswering,
  zeroShotClassification,
  textClassification,
  tokenClassification,
  fillMask,
} from "./tasks/text-tasks.ts";
import { automaticSpeechRecognition } from "./tasks/automatic-speech-recognition.ts";
import { objectDetection, depthEstimation, imageSegmentation } from "./tasks/image-tasks.ts";
import { SessionGate } from "./session-gate.ts";
import { textToSpeech } from "./tasks/text-to-speech.ts";
import type { TaskHandler, TaskContext, TaskResult } from "./tasks/task-handler.ts";
import type { BatchedHandler } from "./tasks/text-batch.ts";
import { findWeights } from "./weight-files.ts";
import { imageToText, summarization, translation } from "./tasks/generation-tasks.ts";

type Part = "tokenizer" | "processor";
interface TaskSpec<Task extends OnnxTask> {
  /**
   * Parts that the task requires in addition to the model. If one is missing, transformers.js fails only at the first
   * job.
   */
  readonly needs: readonly Part[];
  readonly handler: TaskHandler<Task, AllTasks[Task]>;
  /** Runs several jobs in the same calls of the model. */
  readonly together?: BatchedHandler<Task, AllTasks[Task]>["together"];
}

const TASKS: { readonly [Task in OnnxTask]: TaskSpec<Task> } = {
  "text-classification": { needs: ["tokenizer"], ...textClassification },
  "feature-extraction": { needs: ["tokenizer"], ...featureExtraction },
  "token-classification": { needs: ["tokenizer"], handler: tokenClassification },
  "question-answering": { needs: ["tokenizer"], handler: questionAnswering },
  summarization: { needs: ["tokenizer"], handler: summarization },
  translation: { needs: ["tokenizer"], handler: translation },
  "automatic-speech-recognition": { needs: ["tokenizer", "processor"], handler: automaticSpeechRecognition },
  "text-to-speech": { needs: ["tokenizer"], handler: textToSpeech },
  "object-detection": { needs: ["processor"], handler: objectDetection },
  "image-segmentation": { needs: ["processor"], handler: imageSegmentation },
  "image-to-text": { needs: ["tokenizer", "processor"], handler: imageToText },
  "depth-estimation": { needs: ["processor"], handler: depthEstimation },
  "zero-shot-classification": { needs: ["tokenizer"], handler: zeroShotClassification },
  "fill-mask": { needs: ["tokenizer"], handler: fillMask },
};
const FILES_OF: Readonly<Record<Part, string>> = {
  tokenizer: "tokenizer.json and tokenizer_config.json",
  processor: "preprocessor_config.json",
};

/** Restricts transformers.js to the model's folder, without writes and without logs, which quote inputs. */
function stayLocal(): void {
  Object.assign(env, { allowRemoteModels: false, allowLocalModels: true, useFSCache: false, useBrowserCache: false });
  env.fetch = () => Promise.reject(new Error("this process does not download models"));
  env.logLevel = LogLevel.NONE;
}

/** Loads the transformers.js pipeline of one task. @throws {JobFailure} */
export async function loadTaskModel<Task extends OnnxTask>(
  request: LoadRequest,
  task: Task,
): Promise<HostedModel<OnnxJob | JobBatch<OnnxJob>>> {
  const { modelPath, threads, device } = request;
  stayLocal();
  const { format, graphs, bytes } = await findWeights(modelPath, request.weights);
  if (graphs[0] === modelPath)
    throw new JobFailure("model_invalid", `The model is a single file, but ${task} requires a folder`);
  const providers = await providersFor(device);
  const gate = await SessionGate.install({ intraOpNumThreads: threads, interOpNumThreads: 1 });
  const pipe = await openPipeline(task, modelPath, {
    dtype: format,
    device: providers[0] ?? "cpu",
    local_files_only: true,
    session_options: { executionProviders: providers },
  });
  // Computing the features of a long recording takes seconds.
  if ("processor" in pipe && pipe.processor) pipe.processor = gate.resting(pipe.processor);
  const { handler, together } = TASKS[task] as TaskSpec<Task>;

  async function run(job: OnnxJob | JobBatch<OnnxJob>, context: TaskContext): Promise<RunResult> {
    try {
      if (!("batch" in job)) return resultOf(await handler(pipe, job as OnnxInput<Task>, context));
      const results = (await together?.(pipe, job.batch as OnnxInput<Task>[], context)) ?? [];
      // Each job has its own usage; the usage of the batch is unused.
      const output = results.map((each) => ({ output: null, ...resultOf(each) })) satisfies JsonValue;
      return { output, finishReason: "stop", usage: { promptTokens: 0, completionTokens: 0 } };
    } catch (error) {
      throw onnxFailure("model_invalid", "The model failed on this input", error, modelPath);
    }
  }

  function resultOf(result: TaskResult<Task>): RunResult {
    const { output, promptTokens = 0, completionTokens = 0, finishReason = "stop" } = result;
    return { output: checkOutput(task, output), finishReason, usage: { promptTokens, completionTokens } };
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

/** Rejects NaN and infinity, which a broken model may return and JSON cannot represent. @throws {Error} */
function checkOutput(task: OnnxTask, output: unknown): JsonValue {
  const checked = ONNX_OUTPUTS[task].safeParse(output);
  if (checked.success) return checked.data as JsonValue;
  const [issue] = checked.error.issues;
  throw new Error(`its output is invalid at ${issue?.path.join(".")}: ${issue?.message}`);
}
