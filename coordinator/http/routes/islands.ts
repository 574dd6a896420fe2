import { z } from "@hono/zod-openapi";
import { MAX_NAME } from "../../accounts/credential-fields.ts";
import { ISLAND_STATUSES } from "../../islands/island-service.ts";
import { islandDetailSchema, islandSchema, presentIsland, presentIslandDetail } from "../schemas/island-schemas.ts";
import { pageOf, pageQuery, presentPage } from "../schemas/pagination.ts";
import { data, json } from "../schemas/responses.ts";
import { routeGroup } from "../route-group.ts";

export const islandRoutes = routeGroup("/islands", { tag: "Islands" }, (routes, deps) => {
  const { islands, catalog } = deps;

  routes.get("", {
    id: "listIslands",
    is: "List your Islands, connected ones first, then by last_seen_at",
    access: "read",
    query: z.object({ ...pageQuery(), status: z.enum(ISLAND_STATUSES).optional() }),
    responses: { 200: json(pageOf(islandSchema), "A page of Islands") },
  })(async ({ identity, query }) => {
    const { islands: page, total } = await islands.list(identity.accountId, query);
    return presentPage(page.map(presentIsland), total, query);
  });

  routes.get("/{id}", {
    id: "getIsland",
    is: "Get one of your Islands",
    access: "read",
    responses: { 200: json(data(islandDetailSchema), "The Island") },
    fails: [404],
  })(async ({ identity, params: { id } }) => {
    return { data: presentIslandDetail(await islands.get(identity.accountId, id), catalog) };
  });

  routes.patch("/{id}", {
    id: "renameIsland",
    is: "Rename one of your Islands",
    access: "write",
    body: z
      .object({
        name: z.string().openapi({ maxLength: MAX_NAME, description: "New name; an empty name restores the default" }),
      })
      .openapi("RenameIsland"),
    responses: { 200: json(data(islandDetailSchema), "The Island") },
    fails: [404],
  })(async ({ identity, params: { id }, body }) => {
    return { data: presentIslandDetail(await islands.rename(identity.accountId, id, body.name), catalog) };
  });

  routes.delete("/{id}", {
    id: "removeIsland",
    is: "Remove one of your Islands",
    about:
      "Ends the Island's session, moves its jobs to other Islands at once and deletes its record; its earnings stay. The agent stops, and its current token is refused for this host. To add the machine again as a new Island, join with a token or pairing code created after the removal. The old token stays valid for other Islands; revoke it if it should not be used.",
    access: "write",
    responses: { 200: json(data(z.object({ id: z.string(), removed: z.literal(true) })), "Removed") },
    fails: [404],
  })(async ({ identity, params: { id } }) => {
    await islands.remove(identity.accountId, id);
    return { data: { id, removed: true } };
  });
});
