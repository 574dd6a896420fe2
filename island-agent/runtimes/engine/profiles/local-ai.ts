import { z } from "zod";
import type { EngineProfile } from "../engine-profile.ts";
import { plainModel, readModelList } from "./model-lists.ts";

const systemSchema = z.object({ backends: z.array(z.string()), loaded_models: z.array(z.unknown()).nullish() });

/** Source: localai.io, version 3. */
export const localAi: EngineProfile = {
  name: "LocalAI",
  ports: [8080],
  signature: { path: "/system", matches: (response) => systemSchema.safeParse(response).success },
  healthPath: "/readyz",
  models: async (read) => (await readModelList(read)).map(({ id }) => plainModel(id)),
  abilities: ["json", "raw", "tools"],
  resume: null,
  reranking: { path: "/v1/rerank", scores: "probabilities" },
};
