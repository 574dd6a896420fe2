import type { Model } from "@atoll/client";
import { api } from "../../../app/api.ts";

/** What the coordinator says of models by their slugs: speed, and which are defaults. */
export async function readModels(signal: AbortSignal): Promise<ReadonlyMap<string, Model>> {
  const models = await api().models.list({ signal });
  return new Map(models.map((model) => [model.id, model]));
}
