import { z } from "zod";
import type { EngineProfile, ReadEngine } from "../engine-profile.ts";
import { plainModel, readGauge, readModelList } from "./model-lists.ts";

const propsSchema = z.object({
  total_slots: z.number().int().min(1),
  model_path: z.string().max(2_000),
  model_ftype: z.string().max(50).nullish(),
  modalities: z.object({ vision: z.boolean() }).partial().nullish(),
  chat_template_caps: z.object({ supports_tools: z.boolean() }).partial().nullish(),
  default_generation_settings: z.object({ n_ctx: z.number().int().min(1) }),
});
const metaSchema = z.object({ meta: z.object({ n_params: z.number().positive() }).partial().nullish() });
const noAdaptersSchema = z.array(z.unknown()).length(0);
const slotsSchema = z.array(z.object({ is_processing: z.boolean() }));

const readProps = async (read: ReadEngine) => propsSchema.parse(await read("/props"));

/** llama.cpp's server. Source: tools/server/README.md, build 11669. */
export const llamaServer: EngineProfile = {
  name: "llama-server",
  ports: [8080, 9931],
  signature: { path: "/props", matches: (response) => propsSchema.safeParse(response).success },
  healthPath: "/health",
  async models(read) {
    const props = await readProps(read);
    const [first] = await readModelList(read);
    if (first === undefined) return [];
    const isWhole = noAdaptersSchema.safeParse(await read("/lora-adapters").catch(() => null)).success;
    const millions = Math.round((metaSchema.safeParse(first).data?.meta?.n_params ?? 0) / 1_000_000);
    return [
      {
        ...plainModel(first.id),
        contextTokens: props.default_generation_settings.n_ctx,
        proof: isWhole ? { kind: "file", path: props.model_path } : null,
        parameters: millions === 0 ? null : `${millions}M`,
        quantization: props.model_ftype ?? null,
        readsImages: props.modalities?.vision === true,
        // Without them in its template, the server drops the tools of a request.
        lacks: props.chat_template_caps?.supports_tools === false ? ["tools"] : [],
      },
    ];
  },
  keepsModels: true,
  slots: async (read) => (await readProps(read)).total_slots,
  async running(read) {
    const gauge = await readGauge(read, "llamacpp:requests_processing");
    if (gauge !== null) return gauge;
    const slots = slotsSchema.safeParse(await read("/slots").catch(() => null)).data;
    return slots?.filter(({ is_processing: isProcessing }) => isProcessing).length ?? null;
  },
  abilities: ["json", "logprobs", "raw", "sampling", "tools"],
  // Some builds, such as 8763, refuse to continue a message before which the model can think.
  resume: { chat_template_kwargs: { enable_thinking: false } },
  reranking: { path: "/v1/rerank", scores: "logits" },
  // Its cache of prompts has no keys, so it would serve all accounts.
  chatMembers: () => ({ cache_prompt: false, return_progress: true }),
};
