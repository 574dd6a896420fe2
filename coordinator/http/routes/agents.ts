import { z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { RUNTIME_TYPES } from "../../../shared/cargo.ts";
import { MAX_RECENT } from "../../islands/island-service.ts";
import { grantQuerySchema } from "../../files/file-grants.ts";
import type { Recommendation } from "../../recommendations/recommend.ts";
import { authenticateIsland } from "../middleware/auth.ts";
import { metricsShape, presentMetrics, standingsSchema } from "../schemas/island-schemas.ts";
import { data, json } from "../schemas/responses.ts";
import { presentStanding } from "../schemas/standing-schemas.ts";
import { creditsSchema, presentCredits, presentTime, timeSchema } from "../schemas/wire-units.ts";
import { routeGroup } from "../route-group.ts";
import { contentHeaders, FILE_RESPONSES, sendFile } from "../server/send-file.ts";
import { originOf } from "../server/client-address.ts";

const recommendationSchema = z
  .object({
    workload_slug: z.string(),
    model_url: z.string(),
    model_hash: z
      .string()
      .nullable()
      .describe("SHA-256 of the model, or digest of the image; null if it is not pinned"),
    runtime_type: z.enum(RUNTIME_TYPES),
    estimated_earnings_per_job: z.string().describe("Credits, as a decimal number"),
    queued_demand: z.int().describe("Number of jobs that wait for the Cargo"),
    demand_score: z.int().describe("10 for each waiting job, and 2 for each job completed in the last hour"),
    is_default: z.boolean().describe("Whether chats without `model` use the Cargo"),
  })
  .openapi("Recommendation");

const hostQuery = z.object({ host_id: z.guid("must be a UUID") });

/** Endpoints that agents call for their Islands. Most require the Island token instead of an API key. */
export const islandAgentRoutes = routeGroup("/island", { tag: "Islands" }, (routes, deps) => {
  const { accounts, files, islands, options, recommend } = deps;

  routes.get("/earnings", {
    id: "getIslandEarnings",
    is: "Get an Island's jobs and earnings, for its agent",
    about: "Used by `island status` and `island history`. Needs the Island token: `Authorization: Bearer it_…`.",
    access: "public",
    query: hostQuery,
    responses: {
      200: json(
        data(
          z.object({
            name: z.string(),
            ...metricsShape,
            recent: z
              .array(z.object({ job_id: z.string(), credits: creditsSchema, earned_at: timeSchema }))
              .describe(`The latest jobs with earnings, newest first; at most ${MAX_RECENT}`),
            standings: standingsSchema,
          }),
        ),
        "Metrics of the Island",
      ),
    },
    fails: [401, 404],
  })(async ({ c, query }) => {
    const { accountId } = await authenticateIsland(c.env.incoming, accounts.islandTokens);
    const { name, metrics, recent, standings } = await islands.earnings(accountId, query.host_id);
    const earned = recent.map(({ jobId, micro, atMs }) => ({
      job_id: jobId,
      credits: presentCredits(micro),
      earned_at: presentTime(atMs),
    }));
    const shown = standings.map(presentStanding);
    return { data: { name, ...presentMetrics(metrics), recent: earned, standings: shown } };
  });

  routes.delete("", {
    id: "leaveIsland",
    is: "Remove an Island, for its agent",
    about:
      "Used by `island leave`. Same as `DELETE /islands/{id}`, but with the Island token: `Authorization: Bearer it_…`. `removed` is false if the Island does not belong to the account. The token stays valid for other Islands.",
    access: "public",
    query: hostQuery,
    responses: { 200: json(data(z.object({ id: z.string(), removed: z.boolean() })), "Removed") },
    fails: [401],
  })(async ({ c, query: { host_id: id } }) => {
    const { accountId } = await authenticateIsland(c.env.incoming, accounts.islandTokens);
    const removed = await islands.remove(accountId, id).then(
      () => true,
      (error: unknown) => {
        if (error instanceof ServiceError && error.code === "not_found") return false;
        throw error;
      },
    );
    return { data: { id, removed } };
  });

  routes.get("/files/{id}", {
    id: "getIslandFile",
    is: "Get a file of a job, for the Island that runs it",
    about:
      "The frame `assign` has the full path, signed for one attempt on one Island. Needs the Island token: `Authorization: Bearer it_…`. Supports `Range`.",
    access: "public",
    query: grantQuerySchema,
    responses: FILE_RESPONSES,
    fails: [401, 404, 503],
  })(async ({ c, params, query }) => {
    const { accountId } = await authenticateIsland(c.env.incoming, accounts.islandTokens);
    const { job: jobId, attempt, host_id: hostId, expires: expiresAtMs, signature } = query;
    const grant = { fileId: params.id, jobId, attempt, hostId, accountId, expiresAtMs };
    const { file, root, name } = await files.grantedContent(grant, signature);
    return sendFile(c.env, {
      root,
      name,
      headers: { ...contentHeaders(file), "Cache-Control": "private, no-store" },
      missing: "No job of this Island has the file now",
    });
  });

  routes.get("/recommendations", {
    id: "recommendCargos",
    is: "List Cargos that an Island should download, most requested first",
    access: "public",
    query: hostQuery,
    responses: {
      200: json(z.object({ host_id: z.string(), recommendations: z.array(recommendationSchema) }), "Recommendations"),
    },
    fails: [404],
  })(async ({ c, query }) => {
    const origin = originOf(c.env.incoming, options);
    const ranked = await recommend(query.host_id);
    return { host_id: query.host_id, recommendations: ranked.map((one) => present(one, origin)) };
  });
});

/** Presents a recommendation. The path of a model that the coordinator serves itself becomes a full URL. */
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
