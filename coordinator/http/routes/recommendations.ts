import { createRoute, z } from "@hono/zod-openapi";
import { RUNTIME_TYPES } from "../../../shared/cargo.ts";
import type { Recommendation } from "../../recommendations/recommend.ts";
import { originOf } from "../server/client-address.ts";
import { servePublic } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { failures, json } from "../schemas/responses.ts";

const recommendationSchema = z
  .object({
    workload_slug: z.string(),
    model_url: z.string(),
    model_hash: z.string().nullable(),
    runtime_type: z.enum(RUNTIME_TYPES),
    estimated_earnings_per_job: z.string(),
    queued_demand: z.int(),
    demand_score: z.int(),
    is_default: z.boolean().openapi({ description: "Chats without a model use it" }),
  })
  .openapi("Recommendation");

const recommendationsRoute = createRoute({
  operationId: "recommendCargos",
  method: "get",
  path: `${API_BASE}/island/recommendations`,
  summary: "Cargos that an Island should download, most wanted first",
  request: { query: z.object({ host_id: z.guid("must be a UUID") }) },
  responses: {
    200: json(z.object({ host_id: z.string(), recommendations: z.array(recommendationSchema) }), "Recommendations"),
    ...failures(404),
  },
});

export function serveRecommendations(app: HttpApp, { recommend, options }: HttpDeps): void {
  servePublic(app, recommendationsRoute, async ({ c, query }) => {
    const origin = originOf(c.env.incoming, options);
    const ranked = await recommend(query.host_id);
    return c.json({ host_id: query.host_id, recommendations: ranked.map((one) => present(one, origin)) });
  });
}

/** The path of a model that the coordinator serves itself becomes a full URL. */
function present(one: Recommendation, origin: string): z.infer<typeof recommendationSchema> {
  return {
    workload_slug: one.slug,
    model_url: one.modelUrl.startsWith("/") ? `${origin}${one.modelUrl}` : one.modelUrl,
    model_hash: one.modelHash,
    runtime_type: one.runtimeType,
    estimated_earnings_per_job: one.estimatedEarningsPerJob,
    queued_demand: one.queuedDemand,
    demand_score: one.demandScore,
    is_default: one.isDefault,
  };
}
