import { z } from "zod";
import type { EngineModel, EngineProfile, ReadEngine } from "../engine-profile.ts";
import { plainModel } from "./model-lists.ts";

const tagsSchema = z.object({ models: z.array(z.object({ name: z.string().min(1).max(200) })).max(200) });
const loadedSchema = z.object({
  models: z.array(z.object({ name: z.string(), context_length: z.number().int().min(1).optional() })),
});
const shownSchema = z.object({
  modelfile: z.string(),
  details: z.object({ parameter_size: z.string().max(50), quantization_level: z.string().max(50) }).partial(),
  capabilities: z.array(z.string()).default(["completion"]),
});

async function modelOf(read: ReadEngine, name: string, contextTokens: number | null): Promise<EngineModel> {
  const { modelfile, details, capabilities } = shownSchema.parse(await read("/api/show", { model: name }));
  // The file of the first layer is named after its hash.
  const sha256 = /^FROM .*\bsha256-([0-9a-f]{64})$/m.exec(modelfile)?.[1];
  return {
    ...plainModel(name),
    task: capabilities.includes("embedding") ? "feature-extraction" : null,
    contextTokens,
    proof: sha256 === undefined ? null : { kind: "sha256", sha256 },
    parameters: details.parameter_size ?? null,
    quantization: details.quantization_level ?? null,
    readsImages: capabilities.includes("vision"),
  };
}

/** Source: docs.ollama.com/api, version 0.12. It does not report how many runs it batches (OLLAMA_NUM_PARALLEL). */
export const ollama: EngineProfile = {
  name: "Ollama",
  ports: [11_434],
  signature: { path: "/", matches: (response) => response === "Ollama is running" },
  healthPath: "/api/version",
  async models(read) {
    const { models } = tagsSchema.parse(await read("/api/tags"));
    const loaded = loadedSchema.parse(await read("/api/ps"));
    const contexts = new Map(loaded.models.map(({ name, context_length: tokens }) => [name, tokens ?? null]));
    return Promise.all(models.map(({ name }) => modelOf(read, name, contexts.get(name) ?? null)));
  },
  abilities: ["json", "raw", "tools"],
  resume: "assistant_message",
  reranking: null,
};
