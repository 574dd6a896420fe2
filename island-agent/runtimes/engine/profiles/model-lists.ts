import { z } from "zod";
import type { ChatRequest } from "../../../../shared/chat-input.ts";
import type { EngineModel, ModelProof, ReadEngine } from "../engine-profile.ts";

const listSchema = z.object({ data: z.array(z.looseObject({ id: z.string().min(1).max(200) })).max(1_000) });

/** A chat model about which nothing else is known. */
export function plainModel(id: string): EngineModel {
  return {
    id,
    task: null,
    contextTokens: null,
    proof: null,
    version: null,
    parameters: null,
    quantization: null,
    readsImages: false,
    lacks: [],
  };
}

/** Reads `GET /v1/models` of OpenAI's API: the names of the models, and the other members of each. */
export async function readModelList(read: ReadEngine): Promise<z.infer<typeof listSchema>["data"]> {
  return listSchema.parse(await read("/v1/models")).data;
}

/** Reads a gauge of Prometheus' text format, the sum over its labels; null if the engine does not export it. */
export async function readGauge(read: ReadEngine, name: string): Promise<number | null> {
  const text = await read("/metrics").catch(() => "");
  const lines = String(text).split("\n");
  const values = lines.filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  const numbers = values.map((line) => Number(line.slice(line.lastIndexOf(" ") + 1))).filter(Number.isFinite);
  return numbers.length === 0 ? null : numbers.reduce((sum, value) => sum + value, 0);
}

/** Returns the proof in the path of a model in the hub's cache; null for other paths, which name no revision. */
export function hubProof(path: string): ModelProof | null {
  const [, owner, name, revision] = /models--([^/]+?)--([^/]+)\/snapshots\/([0-9a-f]{40})\/?$/.exec(path) ?? [];
  if (owner === undefined || name === undefined || revision === undefined) return null;
  return { kind: "hub", repository: `${owner}/${name}`, revision };
}

/** Returns what vLLM and SGLang have in place of OpenAI's members. Both refuse a `top_k` of 0. */
export function pythonMembers({ repeatPenalty, topK }: ChatRequest, cacheKey: string): Record<string, unknown> {
  return {
    cache_salt: cacheKey,
    ...(repeatPenalty === 1 ? {} : { repetition_penalty: repeatPenalty }),
    ...(topK === 0 ? { top_k: -1 } : {}),
  };
}
