import { z } from "zod";
import { MIB } from "../../../shared/format-bytes.ts";
import { TEXT_TASK_OUTPUTS, vectorsOf, type TextTask } from "../../../shared/text-task.ts";
import { JobFailure } from "../../../shared/errors.ts";
import type { RunRequest, RunResult } from "../runtime.ts";
import { readTask } from "../text-input.ts";
import { EngineFailure, readText, type EngineConnection } from "./engine-connection.ts";
import type { EngineProfile } from "./engine-profile.ts";

const MAX_RESULT_BYTES = 64 * MIB;

const usageSchema = z.object({ prompt_tokens: z.number().int().min(0).max(1_000_000_000).nullish() }).nullish();
const embeddingsSchema = z.object({
  data: z.array(z.object({ index: z.number().int().min(0), embedding: z.array(z.number()) })),
  usage: usageSchema,
});
const rankingSchema = z.object({
  results: z.array(z.object({ index: z.number().int().min(0), relevance_score: z.number() })),
  usage: usageSchema,
});

interface Engine {
  readonly connection: EngineConnection;
  readonly modelId: string;
  readonly reranking: EngineProfile["reranking"];
}

/** Runs a job of an embedding or reranking model. @throws {JobFailure} */
export function runTextTask(
  task: TextTask,
  engine: Engine,
  input: RunRequest["input"],
  signal: AbortSignal,
): Promise<RunResult> {
  return task === "feature-extraction" ? embed(engine, input, signal) : rank(engine, input, signal);
}

async function embed(engine: Engine, input: RunRequest["input"], signal: AbortSignal): Promise<RunResult> {
  const { input: given, normalize } = readTask("feature-extraction", input);
  const texts = typeof given === "string" ? [given] : given;
  const body = { model: engine.modelId, input: texts, encoding_format: "float" };
  const { data, usage } = await ask(engine, "/v1/embeddings", body, embeddingsSchema, signal);
  const ordered = [...data].sort((a, b) => a.index - b.index).map(({ embedding }) => embedding);
  const output = { embeddings: normalize ? ordered.map(normalized) : ordered };
  if (vectorsOf(output, texts.length) === undefined) {
    throw new EngineFailure(`The engine returned ${data.length} embeddings for ${texts.length} texts`);
  }
  return { output, finishReason: "stop", usage: { promptTokens: usage?.prompt_tokens ?? 0, completionTokens: 0 } };
}

async function rank(engine: Engine, input: RunRequest["input"], signal: AbortSignal): Promise<RunResult> {
  const { query, documents } = readTask("text-ranking", input);
  const { reranking, modelId: model } = engine;
  if (reranking === null) throw new EngineFailure("The engine has no endpoint for reranking");
  const { results, usage } = await ask(engine, reranking.path, { model, query, documents }, rankingSchema, signal);
  const found = new Map(results.map(({ index, relevance_score: score }) => [index, score]));
  const scores = documents.map((_, index) => found.get(index) ?? NaN);
  const output = { scores: reranking.scores === "logits" ? scores.map(sigmoid) : scores };
  if (!TEXT_TASK_OUTPUTS["text-ranking"].safeParse(output).success) {
    throw new EngineFailure(`The engine returned ${results.length} scores for ${documents.length} documents`);
  }
  return { output, finishReason: "stop", usage: { promptTokens: usage?.prompt_tokens ?? 0, completionTokens: 0 } };
}

async function ask<T>(
  { connection }: Engine,
  path: string,
  body: object,
  schema: z.ZodType<T>,
  signal: AbortSignal,
): Promise<T> {
  const response = await connection.post(path, body, signal);
  const text = await readText(response, MAX_RESULT_BYTES).catch((cause: unknown) => {
    if (signal.aborted) throw signal.reason as Error;
    throw cause instanceof JobFailure ? cause : new EngineFailure("The engine closed the connection", { cause });
  });
  const parsed = schema.safeParse(parse(text));
  if (parsed.success) return parsed.data;
  throw new EngineFailure(`The engine's response to ${path} is not in the form of OpenAI's API`, { pauseMs: 30_000 });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function normalized(vector: readonly number[]): number[] {
  const length = Math.hypot(...vector);
  return length === 0 ? [...vector] : vector.map((value) => value / length);
}

function sigmoid(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}
