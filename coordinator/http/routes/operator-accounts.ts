import { z } from "@hono/zod-openapi";
import { MAX_GRANT_NOTE } from "../../operators/operator-accounts.ts";
import { ROLES } from "../../store/accounts/accounts.ts";
import { idempotencyHeaders, idempotencyOf } from "../middleware/idempotency.ts";
import {
  accountDetailSchema,
  knownAccountSchema,
  limitsSchema,
  presentAccountDetail,
  presentKnownAccount,
  presentLimits,
} from "../schemas/operator-schemas.ts";
import { pageOf, pageQuery, presentPage } from "../schemas/pagination.ts";
import { data, json } from "../schemas/responses.ts";
import { creditsSchema, presentCredits } from "../schemas/wire-units.ts";
import { actorOf, oneLine, searchSchema, suspendBody } from "./operator-actor.ts";
import { routeGroup } from "../route-group.ts";

const detail = { 200: json(data(accountDetailSchema), "The account") };

const limitSchema = z
  .int()
  .nullable()
  .optional()
  .describe("If omitted, the limit does not change; null restores the default");

export const operatorAccountRoutes = routeGroup("/operator/accounts", { tag: "Operator" }, (routes, deps) => {
  const { accounts } = deps.operators;

  routes.get("", {
    id: "listAccounts",
    is: "List accounts, newest first",
    access: "operator",
    query: z.object({
      ...pageQuery(),
      search: searchSchema.describe("Part of an e-mail address, or a whole account id"),
      role: z.enum(ROLES).optional(),
      suspended: z.enum(["true", "false"]).optional(),
    }),
    responses: { 200: json(pageOf(knownAccountSchema), "A page of accounts") },
  })(async ({ query: { search, role, suspended, ...page } }) => {
    const isSuspended = suspended === undefined ? undefined : suspended === "true";
    const { accounts: listed, total } = await accounts.list({ search, role, isSuspended }, page);
    return presentPage(listed.map(presentKnownAccount), total, page);
  });

  routes.get("/{id}", {
    id: "getKnownAccount",
    is: "Get an account with its limits",
    about: "For its Islands use GET /operator/islands?account=…, for its jobs GET /operator/jobs?account=….",
    access: "operator",
    responses: detail,
    fails: [404],
  })(async ({ params: { id } }) => {
    return { data: presentAccountDetail(await accounts.get(id)) };
  });

  routes.patch("/{id}/limits", {
    id: "setAccountLimits",
    is: "Change limits of an account",
    access: "operator",
    body: z
      .object({
        requests_per_minute: limitSchema,
        concurrent_jobs: limitSchema,
        concurrent_streams: limitSchema,
        share: limitSchema,
      })
      .openapi("SetAccountLimits"),
    responses: { 200: json(data(limitsSchema), "The current limits") },
    fails: [404],
  })(async ({ c, identity, params: { id }, body }) => {
    const params = {
      requestsPerMinute: body.requests_per_minute,
      concurrentJobs: body.concurrent_jobs,
      concurrentStreams: body.concurrent_streams,
      share: body.share,
    };
    const given = Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));
    return { data: presentLimits(await accounts.setLimits(actorOf(c, identity, deps), id, given)) };
  });

  routes.post("/{id}/grants", {
    id: "grantCredits",
    is: "Give credits to an account, or take them back",
    about:
      "A negative amount takes credits back, up to the available balance, and requires a note. With an `Idempotency-Key` header, repeats with the same operator, account and amount grant once; the same key with another amount is refused with 422. These keys never expire. Without the header, each request grants credits.",
    access: "operator",
    headers: idempotencyHeaders,
    body: z
      .object({
        credits: creditsSchema.describe("Credits to add; a negative number takes credits back. Must not be 0"),
        note: oneLine(MAX_GRANT_NOTE).optional().describe("Note that the account sees in its ledger"),
      })
      .openapi("GrantCredits"),
    responses: { 201: json(data(z.object({ id: z.string(), credits: creditsSchema })), "The account's credits now") },
    fails: [400, 404],
  })(async ({ c, identity, params: { id }, body }) => {
    const key = (await idempotencyOf(c, body))?.key ?? null;
    const grant = { credits: body.credits, note: body.note ?? null };
    const balanceMicro = await accounts.grant(actorOf(c, identity, deps), id, grant, key);
    deps.events.note(id, { type: "balance" });
    return { data: { id, credits: presentCredits(balanceMicro) } };
  });

  routes.post("/{id}/suspension", {
    id: "suspendAccount",
    is: "Suspend an account",
    about:
      "Its keys, sessions and Island tokens are refused with 403 account_suspended. Within a second, every coordinator ends its streams, cancels its unfinished jobs and disconnects its Islands. An operator's account cannot be suspended (400).",
    access: "operator",
    body: suspendBody,
    responses: detail,
    fails: [400, 404],
  })(async ({ c, identity, params: { id }, body }) => {
    await accounts.suspend(actorOf(c, identity, deps), id, body.reason);
    return { data: presentAccountDetail(await accounts.get(id)) };
  });

  routes.delete("/{id}/suspension", {
    id: "reinstateAccount",
    is: "End the suspension of an account",
    about: "Its keys, sessions and Island tokens work again, and its Islands reconnect within a minute.",
    access: "operator",
    responses: detail,
    fails: [404],
  })(async ({ c, identity, params: { id } }) => {
    await accounts.reinstate(actorOf(c, identity, deps), id);
    return { data: presentAccountDetail(await accounts.get(id)) };
  });
});
