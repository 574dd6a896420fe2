import type { Model } from "@atoll/client";
import { api } from "../../../app/api.ts";

/** Reads the models by slug, with their speed and whether they are defaults. */
export async function readModels(signal: AbortSignal): Promise<ReadonlyMap<string, Model>> {
  const models = await api().models.list({ signal });
  return new Map(models.map((model) => [model.id, model]));
}
