import { z } from "zod";
import type { EngineProfile } from "../engine-profile.ts";
import { hubProof, plainModel, pythonMembers, readGauge, readModelList } from "./model-lists.ts";

const infoSchema = z.object({
  model_path: z.string().max(2_000),
  is_generation: z.boolean(),
  weight_version: z.string().max(200).nullish(),
});
const slotsSchema = z.number().int().min(1).nullish();
const serverSchema = z.object({
  max_running_requests: slotsSchema,
  internal_states: z.array(z.object({ effective_max_running_requests_per_dp: slotsSchema })).nullish(),
});
const memberSchema = z.object({ max_model_len: z.number().int().min(1).nullish() });

/**
 * Source: docs.sglang.ai (native API, production metrics) and python/sglang/srt/entrypoints of version 0.5. Its health
 * check generates a token, which takes 1 s. It also has Ollama's API. Its reranking has a form of its own.
 */
export const sglang: EngineProfile = {
  name: "SGLang",
  ports: [30_000],
  signature: { path: "/get_model_info", matches: (response) => infoSchema.safeParse(response).success },
  healthPath: "/health",
  async models(read) {
    const info = infoSchema.parse(await read("/get_model_info"));
    return (await readModelList(read)).map(({ id, ...member }) => ({
      ...plainModel(id),
      task: info.is_generation ? null : ("feature-extraction" as const),
      contextTokens: memberSchema.parse(member).max_model_len ?? null,
      proof: hubProof(info.model_path),
      version: info.weight_version ?? null,
    }));
  },
  async slots(read) {
    const { max_running_requests: slots, internal_states: states } = serverSchema.parse(await read("/get_server_info"));
    return states?.[0]?.effective_max_running_requests_per_dp ?? slots ?? null;
  },
  running: (read) => readGauge(read, "sglang:num_running_reqs"),
  abilities: ["json", "logprobs", "raw", "sampling", "tools"],
  resume: { continue_final_message: true, add_generation_prompt: false },
  reranking: null,
  chatMembers: pythonMembers,
};
