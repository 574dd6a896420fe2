import { createRoute, z } from "@hono/zod-openapi";
import { MAX_NAME } from "../../accounts/credential-fields.ts";
import { ISLAND_STATUSES } from "../../islands/island-service.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { islandDetailSchema, islandSchema, presentIsland, presentIslandDetail } from "../schemas/island-schemas.ts";
import { pageOf, pageQuery } from "../schemas/pagination.ts";
import { data, failures, json, jsonBody } from "../schemas/responses.ts";

const params = z.object({ id: z.string() });

const listRoute = createRoute({
  operationId: "listIslands",
  method: "get",
  path: `${API_BASE}/islands`,
  summary: "List your Islands: connected ones first, then by when they were last seen",
  request: { query: z.object({ ...pageQuery(), status: z.enum(ISLAND_STATUSES).optional() }) },
  responses: { 200: json(pageOf(islandSchema), "One page of Islands") },
});

const getRoute = createRoute({
  operationId: "getIsland",
  method: "get",
  path: `${API_BASE}/islands/{id}`,
  summary: "Show an Island of yours",
  request: { params },
  responses: { 200: json(data(islandDetailSchema), "The Island"), ...failures(404) },
});

const renameRoute = createRoute({
  operationId: "renameIsland",
  method: "patch",
  path: `${API_BASE}/islands/{id}`,
  summary: "Rename an Island of yours",
  request: {
    params,
    ...jsonBody(
      z
        .object({ name: z.string().openapi({ maxLength: MAX_NAME, description: "Empty: the default name again" }) })
        .openapi("RenameIsland"),
    ),
  },
  responses: { 200: json(data(islandDetailSchema), "The Island"), ...failures(404) },
});

const removeRoute = createRoute({
  operationId: "removeIsland",
  method: "delete",
  path: `${API_BASE}/islands/{id}`,
  summary: "Remove an Island of yours",
  description:
    "Its session ends, its jobs go to other Islands at once, and it is forgotten; what it earned stays. Its agent stops. It is refused from then on " +
    "with the token that it has, and comes back, as a new Island, when it joins with a token or pairing code that is made after the removal. The token " +
    "itself stays valid for other Islands: revoke it if nobody should use it.",
  request: { params },
  responses: { 200: json(data(z.object({ id: z.string(), removed: z.literal(true) })), "Removed"), ...failures(404) },
});

export function serveIslands(app: HttpApp, deps: HttpDeps): void {
  const { islands, catalog } = deps;

  serveScoped(app, deps, "read", listRoute, async ({ c, identity, query }) => {
    const { limit, offset, status } = query;
    const listed = await islands.list(identity.accountId, { limit, offset, status });
    return c.json({ data: listed.islands.map(presentIsland), meta: { total: listed.total, limit, offset } });
  });

  serveScoped(app, deps, "read", getRoute, async ({ c, identity, params: { id } }) => {
    return c.json({ data: presentIslandDetail(await islands.get(identity.accountId, id), catalog) });
  });

  serveScoped(app, deps, "write", renameRoute, async ({ c, identity, params: { id }, body }) => {
    return c.json({ data: presentIslandDetail(await islands.rename(identity.accountId, id, body.name), catalog) });
  });

  serveScoped(app, deps, "write", removeRoute, async ({ c, identity, params: { id } }) => {
    await islands.remove(identity.accountId, id);
    return c.json({ data: { id, removed: true } });
  });
}
