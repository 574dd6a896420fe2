import { z } from "zod";
import type { EngineProfile } from "../engine-profile.ts";
import { plainModel, readModelList } from "./model-lists.ts";

const versionSchema = z.object({ result: z.literal("KoboldCpp"), version: z.string(), vision: z.boolean().nullish() });
const valueSchema = z.object({ value: z.number().int().min(1) });
const perfSchema = z.object({ idle: z.number(), queue: z.number().int().min(0) });

/**
 * Source: koboldcpp.py, version 1.102. It runs one job at a time, and cancels it when the connection is closed. It
 * also has llama-server's `/props`.
 */
export const koboldCpp: EngineProfile = {
  name: "KoboldCpp",
  ports: [5001],
  signature: { path: "/api/extra/version", matches: (response) => versionSchema.safeParse(response).success },
  healthPath: "/api/extra/version",
  async models(read) {
    const { value: contextTokens } = valueSchema.parse(await read("/api/extra/true_max_context_length"));
    const { vision } = versionSchema.parse(await read("/api/extra/version"));
    const [first] = await readModelList(read);
    // Without a text model it generates images or speech only.
    if (first === undefined || /^(?:koboldcpp\/)?inactive$/.test(first.id)) return [];
    return [{ ...plainModel(first.id), contextTokens, readsImages: vision === true }];
  },
  slots: () => Promise.resolve(1),
  async running(read) {
    const { idle, queue } = perfSchema.parse(await read("/api/extra/perf"));
    return (idle === 0 ? 1 : 0) + queue;
  },
  abilities: ["raw"],
  resume: null,
  reranking: null,
};
