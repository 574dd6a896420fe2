import { createRoute, z } from "@hono/zod-openapi";
import { MAX_GRANT_NOTE } from "../../operators/operator-accounts.ts";
import { ROLES } from "../../store/accounts/accounts.ts";
import { serveOperator } from "../middleware/endpoint.ts";
import { idempotencyOf } from "../middleware/idempotency.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import {
  accountDetailSchema,
  knownAccountSchema,
  limitsSchema,
  presentAccountDetail,
  presentKnownAccount,
  presentLimits,
} from "../schemas/operator-schemas.ts";
import { pageOf, pageQuery } from "../schemas/pagination.ts";
import { data, failures, json, jsonBody } from "../schemas/responses.ts";
import { creditsSchema, presentCredits } from "../schemas/wire-units.ts";
import { actorOf, oneLine, searchSchema, suspendBody } from "./operator-actor.ts";

const params = z.object({ id: z.string() });
const detail = { 200: json(data(accountDetailSchema), "The account") };

const listRoute = createRoute({
  operationId: "listAccounts",
  method: "get",
  path: `${API_BASE}/operator/accounts`,
  summary: "List accounts, newest first",
  request: {
    query: z.object({
      ...pageQuery(),
      search: searchSchema.openapi({ description: "Part of the e-mail address, or the whole id" }),
      role: z.enum(ROLES).optional(),
      suspended: z.enum(["true", "false"]).optional(),
    }),
  },
  responses: { 200: json(pageOf(knownAccountSchema), "One page of accounts") },
});

const getRoute = createRoute({
  operationId: "getKnownAccount",
  method: "get",
  path: `${API_BASE}/operator/accounts/{id}`,
  summary: "Show an account with its limits",
  description: "Its Islands: GET /operator/islands?account=…; its jobs: GET /operator/jobs?account=….",
  request: { params },
  responses: { ...detail, ...failures(404) },
});

const limit = z.int().nullable().optional().openapi({ description: "Left out: as it is; null: the default again" });
const limitsRoute = createRoute({
  operationId: "setAccountLimits",
  method: "patch",
  path: `${API_BASE}/operator/accounts/{id}/limits`,
  summary: "Change limits of an account",
  request: {
    params,
    ...jsonBody(
      z
        .object({ requests_per_minute: limit, concurrent_jobs: limit, concurrent_streams: limit, share: limit })
        .openapi("SetAccountLimits"),
    ),
  },
  responses: { 200: json(data(limitsSchema), "The limits in force"), ...failures(404) },
});

const grantRoute = createRoute({
  operationId: "grantCredits",
  method: "post",
  path: `${API_BASE}/operator/accounts/{id}/grants`,
  summary: "Give an account credits, or take them back",
  description:
    "Negative credits are taken back, at most what the account can spend, and need a note. The account sees the note in its ledger. With an Idempotency-Key header, the same operator, account, key and credits grant once, however often they are sent; another amount " +
    "with the key is refused (422). Keys are remembered for good. Without one, a request that is repeated grants again.",
  request: {
    params,
    headers: z.object({ "idempotency-key": z.string().optional() }),
    ...jsonBody(
      z
        .object({
          credits: creditsSchema.openapi({ description: "Negative: taken back; not 0" }),
          note: oneLine(MAX_GRANT_NOTE).optional().openapi({ description: "Shown to the account" }),
        })
        .openapi("GrantCredits"),
    ),
  },
  responses: {
    201: json(data(z.object({ id: z.string(), credits: creditsSchema })), "The account's credits now"),
    ...failures(400, 404),
  },
});

const suspendRoute = createRoute({
  operationId: "suspendAccount",
  method: "post",
  path: `${API_BASE}/operator/accounts/{id}/suspension`,
  summary: "Suspend an account",
  description:
    "From now on its keys, sessions and Island tokens are refused with 403 account_suspended. Its streams end, its unfinished jobs are " +
    "cancelled, and its Islands are sent away, at every coordinator within a second. An operator's account is not suspended (400).",
  request: { params, ...suspendBody },
  responses: { ...detail, ...failures(400, 404) },
});

const reinstateRoute = createRoute({
  operationId: "reinstateAccount",
  method: "delete",
  path: `${API_BASE}/operator/accounts/{id}/suspension`,
  summary: "End the suspension of an account",
  description: "Its keys, sessions and Island tokens count again; its Islands come back within a minute.",
  request: { params },
  responses: { ...detail, ...failures(404) },
});

export function serveOperatorAccounts(app: HttpApp, deps: HttpDeps): void {
  const { accounts } = deps.operators;

  serveOperator(app, deps, listRoute, async ({ c, query: { limit: most, offset, search, role, suspended } }) => {
    const isSuspended = suspended === undefined ? undefined : suspended === "true";
    const { accounts: listed, total } = await accounts.list({ search, role, isSuspended }, { limit: most, offset });
    return c.json({ data: listed.map(presentKnownAccount), meta: { total, limit: most, offset } });
  });

  serveOperator(app, deps, getRoute, async ({ c, params: { id } }) => {
    return c.json({ data: presentAccountDetail(await accounts.get(id)) });
  });

  serveOperator(app, deps, limitsRoute, async ({ c, identity, params: { id }, body }) => {
    const wish = {
      requestsPerMinute: body.requests_per_minute,
      concurrentJobs: body.concurrent_jobs,
      concurrentStreams: body.concurrent_streams,
      share: body.share,
    };
    const given = Object.fromEntries(Object.entries(wish).filter(([, value]) => value !== undefined));
    return c.json({ data: presentLimits(await accounts.setLimits(actorOf(c, identity, deps), id, given)) });
  });

  serveOperator(app, deps, grantRoute, async ({ c, identity, params: { id }, body }) => {
    const key = idempotencyOf(c.req.header("idempotency-key"), body)?.key ?? null;
    const balanceMicro = await accounts.grant(
      actorOf(c, identity, deps),
      id,
      { credits: body.credits, note: body.note ?? null },
      key,
    );
    deps.events.note(id, { type: "balance" });
    return c.json({ data: { id, credits: presentCredits(balanceMicro) } }, 201);
  });

  serveOperator(app, deps, suspendRoute, async ({ c, identity, params: { id }, body }) => {
    await accounts.suspend(actorOf(c, identity, deps), id, body.reason);
    return c.json({ data: presentAccountDetail(await accounts.get(id)) });
  });

  serveOperator(app, deps, reinstateRoute, async ({ c, identity, params: { id } }) => {
    await accounts.reinstate(actorOf(c, identity, deps), id);
    return c.json({ data: presentAccountDetail(await accounts.get(id)) });
  });
}
