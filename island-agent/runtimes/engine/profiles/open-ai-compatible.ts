import type { EngineProfile } from "../engine-profile.ts";
import { plainModel, readModelList } from "./model-lists.ts";

/** Any other server with OpenAI's chat completions. Nothing beyond a plain chat is assumed. */
export const openAiCompatible: EngineProfile = {
  name: "OpenAI-compatible",
  ports: [],
  signature: {
    path: "/v1/models",
    matches: (response) => Array.isArray((response as { data?: unknown } | null)?.data),
  },
  healthPath: "/v1/models",
  models: async (read) => (await readModelList(read)).map(({ id }) => plainModel(id)),
  abilities: [],
  resume: null,
  reranking: null,
};
