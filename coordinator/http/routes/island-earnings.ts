import { createRoute, z } from "@hono/zod-openapi";
import { MAX_RECENT } from "../../islands/island-service.ts";
import { islandOwnerOf } from "../middleware/auth.ts";
import { servePublic } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { figuresShape, presentFigures } from "../schemas/island-schemas.ts";
import { data, failures, json } from "../schemas/responses.ts";
import { creditsSchema, presentCredits, presentTime, timeSchema } from "../schemas/wire-units.ts";

const earningsRoute = createRoute({
  operationId: "getIslandEarnings",
  method: "get",
  path: `${API_BASE}/island/earnings`,
  summary: "What an Island did and earned, for its agent",
  description:
    "What `island status` and `island history` show. Needs the Island token in place of a key: `Authorization: Bearer it_…`.",
  request: { query: z.object({ host_id: z.guid("must be a UUID") }) },
  responses: {
    200: json(
      data(
        z.object({
          name: z.string(),
          ...figuresShape,
          recent: z
            .array(z.object({ job_id: z.string(), credits: creditsSchema, earned_at: timeSchema }))
            .openapi({ description: `Of the latest jobs that earned something, newest first; at most ${MAX_RECENT}` }),
        }),
      ),
      "Figures of the Island",
    ),
    ...failures(401, 404),
  },
});

export function serveIslandEarnings(app: HttpApp, { accounts, islands }: HttpDeps): void {
  servePublic(app, earningsRoute, async ({ c, query }) => {
    const { accountId } = await islandOwnerOf(c.env.incoming, accounts.islandTokens);
    const { name, figures, recent } = await islands.earnings(accountId, query.host_id);
    const earned = recent.map(({ jobId, micro, atMs }) => ({
      job_id: jobId,
      credits: presentCredits(micro),
      earned_at: presentTime(atMs),
    }));
    return c.json({ data: { name, ...presentFigures(figures), recent: earned } });
  });
}
