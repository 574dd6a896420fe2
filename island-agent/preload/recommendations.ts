import { Readable } from "node:stream";
import { z } from "zod";
import { cargoSlugSchema } from "../../shared/cargo.ts";
import { parseJson, readBody } from "../models/download/json-body.ts";

/**
 * A Cargo that the coordinator recommends for this Island's disk. Strict, because its texts appear on the owner's
 * terminal. Source: spec §2, Preload recommendation.
 */
const recommendationSchema = z.object({
  workload_slug: cargoSlugSchema,
  estimated_earnings_per_job: z
    .string()
    .max(50)
    .regex(/^\d+(\.\d+)?$/),
  queued_demand: z.number().int().nonnegative(),
  demand_score: z.number().int().nonnegative(),
  /** Missing in responses of coordinators before version 0.2. */
  is_default: z.boolean().default(false),
});
const responseSchema = z.object({ recommendations: z.array(recommendationSchema).max(1_000) });

export interface Recommendation {
  readonly slug: string;
  /** Number of jobs that wait for it. */
  readonly queued: number;
  readonly demandScore: number;
  /** True for the Cargo of chats without a model. */
  readonly isDefault: boolean;
  /** Credits, as a decimal number. */
  readonly earningsPerJob: string;
}

const MAX_RESPONSE_WAIT_MS = 30_000;
const MAX_RESPONSE_BYTES = 1_000_000;
const MAX_RECOMMENDATIONS = 20;

/**
 * Requests the Cargos to keep on disk from the coordinator, best first. Source: spec §4, GET /island/recommendations.
 * @throws {Error} with a message for the owner.
 */
export async function fetchRecommendations(
  coordinatorUrl: string,
  hostId: string,
  signal: AbortSignal,
): Promise<Recommendation[]> {
  const url = new URL(`${coordinatorUrl.replace(/\/+$/, "")}/api/v1/island/recommendations`);
  url.searchParams.set("host_id", hostId);
  const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(MAX_RESPONSE_WAIT_MS)]) });
  if (!response.ok)
    throw new Error(`the coordinator responded to the request for recommendations with status ${response.status}`);
  if (response.body === null) throw new Error("invalid recommendations from the coordinator");
  const body = Readable.fromWeb(response.body);
  const text = await readBody(body, MAX_RESPONSE_BYTES, "the list of recommendations");
  const parsed = responseSchema.safeParse(parseJson(text));
  if (!parsed.success) throw new Error("invalid recommendations from the coordinator");
  return parsed.data.recommendations.slice(0, MAX_RECOMMENDATIONS).map((one) => ({
    slug: one.workload_slug,
    queued: one.queued_demand,
    demandScore: one.demand_score,
    isDefault: one.is_default,
    earningsPerJob: one.estimated_earnings_per_job,
  }));
}
