import { z } from "zod";
import type { EngineProfile } from "../engine-profile.ts";
import { hubProof, plainModel, pythonMembers, readGauge, readModelList } from "./model-lists.ts";

const factsSchema = z.object({
  root: z.string().max(2_000).nullish(),
  /** Model that the adapter changes; null for a whole model. */
  parent: z.string().nullish(),
  max_model_len: z.number().int().min(1).nullish(),
  owned_by: z.string().nullish(),
});

/**
 * Source: docs.vllm.ai and vllm/entrypoints/openai/protocol.py, version 0.11. It does not report its number of slots
 * (max_num_seqs). Tools need its flags --enable-auto-tool-choice and --tool-call-parser.
 */
export const vllm: EngineProfile = {
  name: "vLLM",
  ports: [8000],
  signature: {
    path: "/v1/models",
    matches: (response) =>
      factsSchema.safeParse((response as { data?: unknown[] } | null)?.data?.[0]).data?.owned_by === "vllm",
  },
  healthPath: "/health",
  async models(read) {
    return (await readModelList(read)).map(({ id, ...member }) => {
      const { root, parent, max_model_len: contextTokens } = factsSchema.parse(member);
      const proof = parent == null ? hubProof(root ?? "") : null;
      return { ...plainModel(id), contextTokens: contextTokens ?? null, proof };
    });
  },
  running: (read) => readGauge(read, "vllm:num_requests_running"),
  abilities: ["json", "logprobs", "raw", "sampling", "tools"],
  resume: { continue_final_message: true, add_generation_prompt: false },
  reranking: { path: "/v1/rerank", scores: "probabilities" },
  chatMembers: (chat, cacheKey) => ({
    ...pythonMembers(chat, cacheKey),
    // Its levels are low, medium and high.
    ...(chat.reasoningEffort === "none" || chat.reasoningEffort === "minimal" ? { reasoning_effort: "low" } : {}),
  }),
};
