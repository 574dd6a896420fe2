import { z } from "zod";
import type { EngineModel, EngineProfile, ReadEngine } from "../engine-profile.ts";
import { plainModel } from "./model-lists.ts";

/** Context of a model that is not loaded and sets none: the least default of the versions. */
const LEAST_CONTEXT_TOKENS = 4_096;

const tagsSchema = z.object({
  models: z
    .array(
      z.object({ name: z.string().min(1).max(200), digest: z.string().max(200), remote_host: z.string().nullish() }),
    )
    .max(200),
});
const loadedSchema = z.object({
  models: z.array(z.object({ name: z.string(), context_length: z.number().int().min(1).optional() })),
});
const shownSchema = z.object({
  modelfile: z.string(),
  details: z.object({ parameter_size: z.string().max(50), quantization_level: z.string().max(50) }).partial(),
  capabilities: z.array(z.string()).default(["completion"]),
});

async function readModel(read: ReadEngine, name: string, digest: string): Promise<EngineModel> {
  const { modelfile, details, capabilities } = shownSchema.parse(await read("/api/show", { model: name }));
  // The file of the first layer is named after its hash. An adapter or messages of its own change what the model says.
  const sha256 = /^FROM .*\bsha256[-:]([0-9a-f]{64})$/m.exec(modelfile)?.[1];
  const isWhole = sha256 !== undefined && !/^(?:ADAPTER|SYSTEM|MESSAGE) /m.test(modelfile);
  return {
    ...plainModel(name),
    task: capabilities.includes("embedding") ? "feature-extraction" : null,
    setContextTokens: Number(/^PARAMETER num_ctx (\d{1,9})$/m.exec(modelfile)?.[1]) || undefined,
    proof: isWhole ? { kind: "sha256", sha256 } : null,
    version: digest,
    parameters: details.parameter_size ?? null,
    quantization: details.quantization_level ?? null,
    readsImages: capabilities.includes("vision"),
    lacks: capabilities.includes("tools") ? [] : ["tools"],
  };
}

/**
 * Source: docs/api.md, docs/api/openai-compatibility.mdx and openai/openai.go of version 0.33. It does not report how
 * many runs it batches (OLLAMA_NUM_PARALLEL). It applies its template to the prompts of text completions, and only some
 * templates continue a message of the assistant.
 */
export const ollama: EngineProfile = {
  name: "Ollama",
  ports: [11_434],
  signature: { path: "/", matches: (response) => response === "Ollama is running" },
  healthPath: "/api/version",
  async models(read, known) {
    const { models } = tagsSchema.parse(await read("/api/tags"));
    const loaded = loadedSchema.parse(await read("/api/ps"));
    const contexts = new Map(loaded.models.map(({ name, context_length: tokens }) => [name, tokens]));
    const found: EngineModel[] = [];
    // Prompts for models with a remote host would leave this machine.
    for (const { name, digest } of models.filter((each) => !each.remote_host)) {
      const before = known.find((each) => each.id === name && each.version === digest);
      const model = before ?? (await readModel(read, name, digest));
      const { setContextTokens: set } = model;
      const tokens = contexts.get(name) ?? set ?? LEAST_CONTEXT_TOKENS;
      // For a job, Ollama loads a model again that a client has loaded with more than the set context.
      found.push({ ...model, contextTokens: Math.min(tokens, set ?? tokens) });
    }
    return found;
  },
  abilities: ["json", "tools"],
  resume: null,
  reranking: null,
};
