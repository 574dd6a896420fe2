import { z } from "@hono/zod-openapi";
import type { ListedIsland } from "../../islands/island-service.ts";
import type { KnownIsland } from "../../store/accounts/operators.ts";
import {
  islandDetailSchema,
  islandSchema,
  presentIslandDetail,
  presentIslandFacts,
} from "../schemas/island-schemas.ts";
import { presentEmail } from "../schemas/operator-schemas.ts";
import { pageOf, pageQuery, presentPage } from "../schemas/pagination.ts";
import { data, json } from "../schemas/responses.ts";
import { actorOf, searchSchema, suspendBody } from "./operator-actor.ts";
import { routeGroup } from "../route-group.ts";

const suspended = { 200: json(data(z.object({ id: z.string(), suspended: z.boolean() })), "Done") };

const ownerShape = {
  account_id: z.string().describe("Id of the owner's account"),
  account_email: z.string().nullable(),
};

/** Schema of an Island without its statistics, which are read for one Island at a time. */
const knownIslandSchema = islandSchema
  .omit({ uptime: true, jobs: true, tokens: true, earned: true })
  .extend(ownerShape)
  .openapi("KnownIsland");

const knownIslandDetailSchema = islandDetailSchema.extend(ownerShape).openapi("KnownIslandDetail");

export const operatorIslandRoutes = routeGroup("/operator/islands", { tag: "Operator" }, (routes, deps) => {
  const { islands } = deps.operators;

  routes.get("", {
    id: "listNetworkIslands",
    is: "List the Islands of all accounts, most recently seen first",
    access: "operator",
    query: z.object({
      ...pageQuery(),
      search: searchSchema.describe("Beginning of an Island's id, or part of its name"),
      account: z.string().optional().describe("Id of an account"),
      status: z
        .enum(["online", "offline", "suspended"])
        .optional()
        .describe(
          "`online` includes Islands that were seen within the last 150 s, even if they have just disconnected",
        ),
    }),
    responses: { 200: json(pageOf(knownIslandSchema), "A page of Islands") },
  })(async ({ query: { search, account: accountId, status, ...page } }) => {
    const { islands: listed, total } = await islands.list({ search, accountId, status }, page);
    return presentPage(listed.map(presentKnownIsland), total, page);
  });

  routes.get("/{id}", {
    id: "getNetworkIsland",
    is: "Get an Island, as its owner sees it",
    access: "operator",
    responses: { 200: json(data(knownIslandDetailSchema), "The Island") },
    fails: [404],
  })(async ({ params: { id } }) => {
    const known = await islands.known(id);
    const island = await deps.islands.get(known.accountId, id);
    return { data: { ...presentIslandDetail(island, deps.catalog), ...presentOwner(known) } };
  });

  routes.post("/{id}/suspension", {
    id: "suspendIsland",
    is: "Suspend an Island",
    about:
      "Ends the Island's session with the reason and moves its jobs to other Islands at once. Its agent reconnects once a minute, but gets no jobs until the suspension ends. The agent chooses its host id: if the owner returns under another id, suspend the account.",
    access: "operator",
    body: suspendBody,
    responses: suspended,
    fails: [404],
  })(async ({ c, identity, params: { id }, body }) => {
    await islands.suspend(actorOf(c, identity, deps), id, body.reason);
    return { data: { id, suspended: true } };
  });

  routes.delete("/{id}/suspension", {
    id: "reinstateIsland",
    is: "End the suspension of an Island",
    access: "operator",
    responses: suspended,
    fails: [404],
  })(async ({ c, identity, params: { id } }) => {
    await islands.reinstate(actorOf(c, identity, deps), id);
    return { data: { id, suspended: false } };
  });
});

function presentKnownIsland(island: ListedIsland<KnownIsland>): z.infer<typeof knownIslandSchema> {
  return { ...presentIslandFacts(island), ...presentOwner(island.record) };
}

function presentOwner({ accountId, email }: KnownIsland): z.infer<z.ZodObject<typeof ownerShape>> {
  return { account_id: accountId, account_email: presentEmail(email) };
}
