import { z } from "zod";
import type { EngineProfile } from "../engine-profile.ts";
import { plainModel, readModelList } from "./model-lists.ts";

const versionSchema = z.object({ result: z.literal("KoboldCpp"), version: z.string() });
const valueSchema = z.object({ value: z.number().int().min(1) });
const perfSchema = z.object({ idle: z.number(), queue: z.number().int().min(0) });

/** Source: the API of KoboldCpp 1.100 (`/api`). It runs one job at a time. */
export const koboldCpp: EngineProfile = {
  name: "KoboldCpp",
  ports: [5001],
  signature: { path: "/api/extra/version", matches: (response) => versionSchema.safeParse(response).success },
  healthPath: "/api/extra/version",
  async models(read) {
    const { value: contextTokens } = valueSchema.parse(await read("/api/extra/true_max_context_length"));
    return (await readModelList(read)).slice(0, 1).map(({ id }) => ({ ...plainModel(id), contextTokens }));
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
