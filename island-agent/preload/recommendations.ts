import { z } from "zod";

/** A Cargo that the coordinator would have on this Island's disk. Source: spec §2, Preload recommendation. */
const recommendationSchema = z.object({
  workload_slug: z.string().max(100),
  estimated_earnings_per_job: z.string().max(50),
  queued_demand: z.number().int(),
  demand_score: z.number().int(),
});
const answerSchema = z.object({ recommendations: z.array(recommendationSchema).max(1_000) });

export interface Recommendation {
  readonly slug: string;
  /** Jobs that wait for it. */
  readonly queued: number;
  readonly demandScore: number;
  /** Credits, as a decimal number. */
  readonly earningsPerJob: string;
}

const ANSWER_LIMIT_MS = 30_000;
const MAX_RECOMMENDATIONS = 20;

/**
 * Asks the coordinator what to have on disk, best first. Source: spec §4, GET /island/recommendations.
 * @throws {Error} with a message for the owner.
 */
export async function fetchRecommendations(
  coordinatorUrl: string,
  hostId: string,
  signal: AbortSignal,
): Promise<Recommendation[]> {
  const url = new URL(`${coordinatorUrl.replace(/\/+$/, "")}/api/v1/island/recommendations`);
  url.searchParams.set("host_id", hostId);
  const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_LIMIT_MS)]) });
  if (!response.ok) throw new Error(`the coordinator answered ${response.status} when asked for recommendations`);
  const answer = answerSchema.safeParse(await response.json());
  if (!answer.success) throw new Error("the coordinator's recommendations cannot be read");
  return answer.data.recommendations.slice(0, MAX_RECOMMENDATIONS).map((one) => ({
    slug: one.workload_slug,
    queued: one.queued_demand,
    demandScore: one.demand_score,
    earningsPerJob: one.estimated_earnings_per_job,
  }));
}
