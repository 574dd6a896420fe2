import { z } from "zod";
import type { EngineProfile } from "../engine-profile.ts";
import { hubProof, plainModel, readGauge, readModelList } from "./model-lists.ts";

const infoSchema = z.object({ model_path: z.string().max(2_000) });
const serverSchema = z.object({
  max_running_requests: z.number().int().min(1).nullish(),
  context_length: z.number().int().min(1).nullish(),
});

/** Source: docs.sglang.ai, native API and production metrics, version 0.5. */
export const sglang: EngineProfile = {
  name: "SGLang",
  ports: [30_000],
  signature: { path: "/get_model_info", matches: (response) => infoSchema.safeParse(response).success },
  healthPath: "/health",
  async models(read) {
    const { model_path: path } = infoSchema.parse(await read("/get_model_info"));
    const { context_length: contextTokens } = serverSchema.parse(await read("/get_server_info"));
    return (await readModelList(read)).map(({ id }) => {
      return { ...plainModel(id), contextTokens: contextTokens ?? null, proof: hubProof(path) };
    });
  },
  slots: async (read) => serverSchema.parse(await read("/get_server_info")).max_running_requests ?? null,
  running: (read) => readGauge(read, "sglang:num_running_reqs"),
  abilities: ["json", "logprobs", "raw", "sampling", "tools"],
  resume: "continue_final_message",
  reranking: { path: "/v1/rerank", scores: "probabilities" },
};
