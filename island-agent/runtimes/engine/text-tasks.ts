import { z } from "zod";
import { MIB } from "../../../shared/format-bytes.ts";
import { TEXT_TASK_OUTPUTS, vectorsOf, type TextTask } from "../../../shared/text-task.ts";
import { JobFailure } from "../../../shared/errors.ts";
import type { RunRequest, RunResult } from "../runtime.ts";
import { readTask } from "../text-input.ts";
import { EngineFailure, PAUSES_MS, readText, valueOf, type EngineConnection } from "./engine-connection.ts";
import type { EngineModel, EngineProfile } from "./engine-profile.ts";

const MAX_RESULT_BYTES = 16 * MIB;
/** Texts of one request. Engines send nothing before all of its results. */
const TEXTS_TOGETHER = 32;

const usageSchema = z.object({ prompt_tokens: z.number().int().min(0).max(1_000_000_000).nullish() }).nullish();
const embeddingsSchema = z.object({
  // Some engines send base64 whatever the request asks for.
  data: z.array(
    z.object({
      index: z.number().int().min(0),
      embedding: z.union([z.array(z.number()), z.base64().transform(floats)]),
    }),
  ),
  usage: usageSchema,
});
const rankingSchema = z.object({
  results: z.array(z.object({ index: z.number().int().min(0), relevance_score: z.number() })),
  usage: usageSchema,
});

interface Engine {
  readonly connection: EngineConnection;
  readonly model: EngineModel;
  readonly reranking: EngineProfile["reranking"];
  /** Called after each request. */
  readonly onWorking: () => void;
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
  const vectors: number[][] = [];
  const promptTokens = await inParts(engine, texts, async (part) => {
    const body = { model: engine.model.id, input: part, encoding_format: "float" };
    const { data, usage } = await ask(engine, "/v1/embeddings", body, embeddingsSchema, signal);
    vectors.push(...inOrder(data, part.length, "embeddings").map(({ embedding }) => embedding));
    return usage?.prompt_tokens ?? 0;
  });
  const output = { embeddings: normalize ? vectors.map(normalized) : vectors };
  if (vectorsOf(output, texts.length) === undefined) {
    throw new EngineFailure("The engine returned embeddings of different lengths or without numbers");
  }
  return { output, finishReason: "stop", usage: { promptTokens, completionTokens: 0 } };
}

async function rank(engine: Engine, input: RunRequest["input"], signal: AbortSignal): Promise<RunResult> {
  const { query, documents } = readTask("text-ranking", input);
  const { reranking, model } = engine;
  if (reranking === null) throw new EngineFailure("The engine has no endpoint for reranking");
  const scores: number[] = [];
  const promptTokens = await inParts(engine, documents, async (part) => {
    const body = { model: model.id, query, documents: part };
    const { results, usage } = await ask(engine, reranking.path, body, rankingSchema, signal);
    const found = inOrder(results, part.length, "scores").map(({ relevance_score: score }) => score);
    scores.push(...(reranking.scores === "logits" ? found.map(sigmoid) : found));
    return usage?.prompt_tokens ?? 0;
  });
  const output = { scores };
  if (!TEXT_TASK_OUTPUTS["text-ranking"].safeParse(output).success) {
    throw new EngineFailure("The engine returned scores that are not from 0 to 1");
  }
  return { output, finishReason: "stop", usage: { promptTokens, completionTokens: 0 } };
}

/** Sends the texts in parts. @param send returns the prompt tokens of a part. @returns those of all parts. */
async function inParts(
  { onWorking }: Engine,
  texts: readonly string[],
  send: (part: readonly string[]) => Promise<number>,
): Promise<number> {
  let tokens = 0;
  for (let from = 0; from < texts.length; from += TEXTS_TOGETHER) {
    tokens += await send(texts.slice(from, from + TEXTS_TOGETHER));
    onWorking();
  }
  return tokens;
}

/** Returns the results by their index. @throws {EngineFailure} unless there is one for each text. */
function inOrder<T extends { readonly index: number }>(results: readonly T[], count: number, what: string): T[] {
  const ordered = results.toSorted((a, b) => a.index - b.index);
  if (ordered.length === count && ordered.every(({ index }, position) => index === position)) return ordered;
  throw new EngineFailure(`The engine returned ${results.length} ${what} for ${count} texts`);
}

async function ask<T>(
  { connection, model }: Engine,
  path: string,
  body: object,
  schema: z.ZodType<T>,
  signal: AbortSignal,
): Promise<T> {
  const response = await connection.post(path, body, model, signal);
  const text = await readText(response, MAX_RESULT_BYTES).catch((cause: unknown) => {
    if (signal.aborted) throw signal.reason as Error;
    throw cause instanceof JobFailure
      ? cause
      : new EngineFailure("The engine closed the connection", { pauseMs: PAUSES_MS.gone, cause });
  });
  const parsed = schema.safeParse(valueOf(text));
  if (parsed.success) return parsed.data;
  throw new EngineFailure(`The engine's response to ${path} is not in the form of OpenAI's API`, {
    pauseMs: PAUSES_MS.garbage,
  });
}

/** Decodes little-endian floats of 32 bits. */
function floats(base64: string): number[] {
  const bytes = Buffer.from(base64, "base64");
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readFloatLE(index * 4));
}

function normalized(vector: readonly number[]): number[] {
  const length = Math.hypot(...vector);
  return length === 0 ? [...vector] : vector.map((value) => value / length);
}

function sigmoid(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}
