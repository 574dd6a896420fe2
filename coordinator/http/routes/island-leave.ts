import { createRoute, z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { islandOwnerOf } from "../middleware/auth.ts";
import { servePublic } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { data, failures, json } from "../schemas/responses.ts";

const leaveRoute = createRoute({
  operationId: "leaveIsland",
  method: "delete",
  path: `${API_BASE}/island`,
  summary: "Forget an Island, for its agent",
  description:
    "What `island leave` calls: as `DELETE /islands/{id}`, with the Island token in place of a key: `Authorization: Bearer it_…`. `removed` is false if " +
    "the account has no such Island. The token stays valid for other Islands.",
  request: { query: z.object({ host_id: z.guid("must be a UUID") }) },
  responses: { 200: json(data(z.object({ id: z.string(), removed: z.boolean() })), "Forgotten"), ...failures(401) },
});

export function serveIslandLeave(app: HttpApp, { accounts, islands }: HttpDeps): void {
  servePublic(app, leaveRoute, async ({ c, query: { host_id: id } }) => {
    const { accountId } = await islandOwnerOf(c.env.incoming, accounts.islandTokens);
    const removed = await islands.remove(accountId, id).then(
      () => true,
      (error: unknown) => {
        if (error instanceof ServiceError && error.code === "not_found") return false;
        throw error;
      },
    );
    return c.json({ data: { id, removed } });
  });
}
