import type { LlamaModel } from "node-llama-cpp";
import { JobFailure } from "../../../shared/errors.ts";
import type { OutputItem } from "../../../shared/output.ts";
import type { TextTask, TextTaskInput } from "../../../shared/text-task.ts";
import type { HostedModel } from "../host/serve-host.ts";
import type { RunResult } from "../runtime.ts";
import { gpuMemoryUsed, readModel } from "./load-model.ts";
import type { LoadRequest } from "./host-requests.ts";
import { contextSizeOf, llamaFailure, openLlama } from "./open-llama.ts";

/** Maximum number of progress items of a job, regardless of its number of texts. */
const PROGRESS_STEPS = 50;

export type TextJob = TextTaskInput<TextTask>;

/** One text, or one pair of query and document, that the model reads. */
interface TextUnit<Value> {
  readonly field: string;
  readonly tokens: number;
  readonly read: () => Promise<Value>;
}

interface TextReader<Value> {
  readonly contextTokens: number;
  units(job: TextJob): TextUnit<Value>[];
  output(job: TextJob, values: readonly Value[]): NonNullable<RunResult["output"]>;
  dispose(): Promise<void>;
}

/** Loads a GGUF file for embeddings or for ranking. Texts are read one at a time. @throws {JobFailure} */
export async function loadTextModel(request: LoadRequest, task: TextTask): Promise<HostedModel<TextJob>> {
  const { llama, errors } = await openLlama(request);
  const gpuBefore = await gpuMemoryUsed(llama);
  const model = await readModel({ llama, errors }, request);
  const contextSize = contextSizeOf(request, model.trainContextSize);
  const options = { contextSize, batchSize: contextSize, threads: request.threads };
  const reader = await (
    task === "feature-extraction" ? openEmbedder(model, options) : openRanker(model, options)
  ).catch((cause: unknown) => {
    throw llamaFailure("model_invalid", `The model does not support ${task}`, cause, errors);
  });
  const gpuAfter = await gpuMemoryUsed(llama);
  const gpuBytes = Math.max(0, (gpuAfter?.bytes ?? 0) - (gpuBefore?.bytes ?? 0));
  return {
    facts: { task, contextTokens: reader.contextTokens },
    gpuMemory: gpuAfter === null ? null : { ...gpuAfter, bytes: gpuBytes },
    run: ({ job }, onOutput, signal) => runJob<unknown>(reader, job, onOutput, signal),
    dispose: () => reader.dispose().then(() => llama.dispose()),
  };
}

async function runJob<Value>(
  reader: TextReader<Value>,
  job: TextJob,
  onOutput: (item: OutputItem) => void,
  signal: AbortSignal,
): Promise<RunResult> {
  const units = reader.units(job);
  // All texts are checked first, so that a job that cannot succeed costs nothing.
  for (const { field, tokens } of units) {
    if (tokens < reader.contextTokens) continue;
    const limit = `the model accepts at most ${reader.contextTokens - 1}`;
    throw new JobFailure("context_length_exceeded", `${field}: has ${tokens} tokens, but ${limit}`);
  }
  const every = Math.ceil(units.length / PROGRESS_STEPS);
  const values: Value[] = [];
  for (const { read } of units) {
    signal.throwIfAborted();
    values.push(await read());
    if (values.length % every === 0 || values.length === units.length)
      onOutput({ type: "progress", step: values.length, total: units.length });
  }
  const promptTokens = units.reduce((sum, { tokens }) => sum + tokens, 0);
  return { output: reader.output(job, values), finishReason: "stop", usage: { promptTokens, completionTokens: 0 } };
}

interface ContextOptions {
  readonly contextSize: number;
  /** Equal to the context size: models with bidirectional attention read a text in one batch. */
  readonly batchSize: number;
  readonly threads: number;
}

/** Opens an embedding context. The file defines how token vectors are combined into one (`pooling_type`). */
async function openEmbedder(model: LlamaModel, options: ContextOptions): Promise<TextReader<readonly number[]>> {
  const context = await model.createEmbeddingContext(options);
  return {
    contextTokens: options.contextSize,
    units: (job) => {
      const { input } = job as TextTaskInput<"feature-extraction">;
      const field = (index: number): string => (typeof input === "string" ? "input" : `input.${index}`);
      return [input].flat().map((text, index) => ({
        field: field(index),
        tokens: context.calculateInputLength(text),
        read: async () => (await context.getEmbeddingFor(text)).vector,
      }));
    },
    output: (job, vectors) => {
      const { normalize } = job as TextTaskInput<"feature-extraction">;
      const embeddings = vectors.map((vector) => {
        const length = Math.hypot(...vector);
        if (!Number.isFinite(length)) throw new JobFailure("model_invalid", "The model returned NaN or infinity");
        return normalize && length > 0 ? vector.map((value) => value / length) : [...vector];
      });
      return { embeddings };
    },
    dispose: () => context.dispose(),
  };
}

async function openRanker(model: LlamaModel, options: ContextOptions): Promise<TextReader<number>> {
  const context = await model.createRankingContext(options);
  return {
    contextTokens: options.contextSize,
    units: (job) => {
      const { query, documents } = job as TextTaskInput<"text-ranking">;
      return documents.map((document, index) => ({
        field: `documents.${index} (with the query)`,
        tokens: context.calculateInputLength(query, document),
        read: () => context.rank(query, document),
      }));
    },
    output: (_job, scores) => {
      if (!scores.every(Number.isFinite)) throw new JobFailure("model_invalid", "The model returned NaN or infinity");
      return { scores: [...scores] };
    },
    dispose: () => context.dispose(),
  };
}
