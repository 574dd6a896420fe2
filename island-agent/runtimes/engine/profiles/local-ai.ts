import { z } from "zod";
import type { EngineProfile } from "../engine-profile.ts";
import { plainModel, readModelList } from "./model-lists.ts";

const systemSchema = z.object({ backends: z.array(z.string()), loaded_models: z.array(z.unknown()).nullish() });
const abilitiesSchema = z.object({
  data: z
    .array(z.object({ id: z.string(), capabilities: z.array(z.string()), input_modalities: z.array(z.string()) }))
    .max(1_000),
});

/**
 * Source: localai.io and core/http of version 4.9. It also has Ollama's API. Scores of its reranking have no scale that
 * is the same for all backends.
 */
export const localAi: EngineProfile = {
  name: "LocalAI",
  ports: [8080],
  signature: { path: "/system", matches: (response) => systemSchema.safeParse(response).success },
  healthPath: "/readyz",
  async models(read) {
    const { data } = abilitiesSchema.safeParse(await read("/v1/models/capabilities").catch(() => null)).data ?? {};
    // Versions before 4 do not say which models chat.
    if (data === undefined) return (await readModelList(read)).map(({ id }) => plainModel(id));
    return data.flatMap(({ id, capabilities, input_modalities: inputs }) => {
      const isEmbedding = !capabilities.includes("chat") && capabilities.includes("embeddings");
      if (!isEmbedding && !capabilities.includes("chat")) return [];
      const task = isEmbedding ? ("feature-extraction" as const) : null;
      const lacks = capabilities.includes("tools") ? [] : (["tools"] as const);
      return [{ ...plainModel(id), task, lacks, readsImages: inputs.includes("image") }];
    });
  },
  abilities: ["json", "raw", "tools"],
  resume: null,
  reranking: null,
};
