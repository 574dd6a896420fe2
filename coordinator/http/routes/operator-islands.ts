import { createRoute, z } from "@hono/zod-openapi";
import { serveOperator } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import {
  knownIslandDetailSchema,
  knownIslandSchema,
  presentKnownIsland,
  presentKnownIslandDetail,
} from "../schemas/known-island-schemas.ts";
import { pageOf, pageQuery } from "../schemas/pagination.ts";
import { data, failures, json } from "../schemas/responses.ts";
import { actorOf, searchSchema, suspendBody } from "./operator-actor.ts";

const params = z.object({ id: z.string() });

const listRoute = createRoute({
  operationId: "listNetworkIslands",
  method: "get",
  path: `${API_BASE}/operator/islands`,
  summary: "List the Islands of all accounts, last seen first",
  request: {
    query: z.object({
      ...pageQuery(),
      search: searchSchema.openapi({ description: "Beginning of the id, or part of a name" }),
      account: z.string().optional().openapi({ description: "Id of an account" }),
      status: z.enum(["online", "offline", "suspended"]).optional().openapi({
        description: "online: seen within the last 150 s, so that one that has just left is still among them",
      }),
    }),
  },
  responses: { 200: json(pageOf(knownIslandSchema), "One page of Islands") },
});

const getRoute = createRoute({
  operationId: "getNetworkIsland",
  method: "get",
  path: `${API_BASE}/operator/islands/{id}`,
  summary: "Show an Island, as its owner sees it",
  request: { params },
  responses: { 200: json(data(knownIslandDetailSchema), "The Island"), ...failures(404) },
});

const suspended = { 200: json(data(z.object({ id: z.string(), suspended: z.boolean() })), "Done") };

const suspendRoute = createRoute({
  operationId: "suspendIsland",
  method: "post",
  path: `${API_BASE}/operator/islands/{id}/suspension`,
  summary: "Suspend an Island",
  description:
    "Its session ends, with the reason, and its jobs go to other Islands at once. Its agent asks again once a minute, and gets no jobs " +
    "until the suspension ends. A host id is chosen by its agent: suspend the account if its owner brings the machine back with another one.",
  request: { params, ...suspendBody },
  responses: { ...suspended, ...failures(404) },
});

const reinstateRoute = createRoute({
  operationId: "reinstateIsland",
  method: "delete",
  path: `${API_BASE}/operator/islands/{id}/suspension`,
  summary: "End the suspension of an Island",
  request: { params },
  responses: { ...suspended, ...failures(404) },
});

export function serveOperatorIslands(app: HttpApp, deps: HttpDeps): void {
  const { islands } = deps.operators;

  serveOperator(app, deps, listRoute, async ({ c, query: { limit, offset, search, account: accountId, status } }) => {
    const { islands: listed, total } = await islands.list({ search, accountId, status }, { limit, offset });
    return c.json({ data: listed.map(presentKnownIsland), meta: { total, limit, offset } });
  });

  serveOperator(app, deps, getRoute, async ({ c, params: { id } }) => {
    const known = await islands.known(id);
    const island = await deps.islands.get(known.accountId, id);
    return c.json({ data: presentKnownIslandDetail(island, known, deps.catalog) });
  });

  serveOperator(app, deps, suspendRoute, async ({ c, identity, params: { id }, body }) => {
    await islands.suspend(actorOf(c, identity, deps), id, body.reason);
    return c.json({ data: { id, suspended: true } });
  });

  serveOperator(app, deps, reinstateRoute, async ({ c, identity, params: { id } }) => {
    await islands.reinstate(actorOf(c, identity, deps), id);
    return c.json({ data: { id, suspended: false } });
  });
}
