import { z } from "zod";
import type { EngineProfile, ReadEngine } from "../engine-profile.ts";
import { plainModel } from "./model-lists.ts";

const listSchema = z.object({
  models: z
    .array(
      z.object({
        type: z.string(),
        key: z.string().min(1).max(200),
        params_string: z.string().max(50).nullish(),
        quantization: z.object({ name: z.string().max(50).nullish() }).nullish(),
        capabilities: z.object({ vision: z.boolean() }).partial().nullish(),
        loaded_instances: z.array(
          z.object({
            id: z.string(),
            config: z.object({ context_length: z.number().int().min(1), parallel: z.number().int().min(1).optional() }),
          }),
        ),
      }),
    )
    .max(1_000),
});

const readList = async (read: ReadEngine) => listSchema.parse(await read("/api/v1/models")).models;

const ANY_OBJECT = { type: "json_schema", json_schema: { name: "object", schema: { type: "object" } } };

/** Source: lmstudio.ai/docs, REST API of version 0.4. Only models in memory are lent. */
export const lmStudio: EngineProfile = {
  name: "LM Studio",
  ports: [1234],
  signature: { path: "/api/v1/models", matches: (response) => listSchema.safeParse(response).success },
  healthPath: "/api/v1/models",
  async models(read) {
    return (await readList(read)).flatMap(
      ({ type, params_string: parameters, quantization, capabilities, loaded_instances: instances }) =>
        instances.map(({ id, config }) => ({
          ...plainModel(id),
          task: type === "embedding" ? ("feature-extraction" as const) : null,
          contextTokens: config.context_length,
          parameters: parameters ?? null,
          quantization: quantization?.name ?? null,
          readsImages: capabilities?.vision === true,
        })),
    );
  },
  async slots(read) {
    const slots = (await readList(read)).flatMap(({ loaded_instances: instances }) =>
      instances.flatMap(({ config }) => config.parallel ?? []),
    );
    // An engine has one number for all its models.
    return slots.length === 0 ? null : Math.min(...slots);
  },
  abilities: ["json", "raw", "tools"],
  resume: null,
  reranking: null,
  // "json_object" is not documented and was refused.
  chatMembers: ({ responseFormat: { type } }) => (type === "json_object" ? { response_format: ANY_OBJECT } : {}),
};
