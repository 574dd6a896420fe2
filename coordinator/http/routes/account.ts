import { createRoute, z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { ROLES, type Account } from "../../store/account-store.ts";
import { data, failures, json, jsonBody } from "../schemas/responses.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { passwordCaller, passwordText } from "./password-caller.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { creditsSchema, presentCredits, presentTime, timeSchema } from "../schemas/wire-units.ts";

export const accountSchema = z
  .object({ id: z.string(), email: z.string(), credits: creditsSchema, role: z.enum(ROLES), created_at: timeSchema })
  .openapi("Account");

const accountRoute = createRoute({
  operationId: "getAccount",
  method: "get",
  path: `${API_BASE}/account`,
  summary: "The caller's account and credits",
  responses: { 200: json(data(accountSchema), "The account"), ...failures(404) },
});

const deleteRoute = createRoute({
  operationId: "deleteAccount",
  method: "delete",
  path: `${API_BASE}/account`,
  summary: "Delete the account for good",
  description:
    "Needs a session and the password. Unfinished jobs are cancelled; keys, sessions and Island tokens end at once; prompts, answers, " +
    "conversations, Cargos and the e-mail address are removed. What credits are left go back to the network. The ledger keeps its " +
    "entries under the account's id.",
  request: jsonBody(z.object({ password: passwordText })),
  responses: {
    200: json(data(z.object({ id: z.string(), deleted: z.literal(true) })), "Deleted"),
    ...failures(400, 404),
  },
});

export function serveAccount(app: HttpApp, deps: HttpDeps): void {
  serveScoped(app, deps, "write", deleteRoute, async ({ c, identity, body }) => {
    const { accountId: id } = identity;
    await deps.accounts.delete(passwordCaller(c, identity, deps.options), body.password);
    await deps.retention.remove({ kind: "account", id });
    return c.json({ data: { id, deleted: true } });
  });

  serveScoped(app, deps, "read", accountRoute, async ({ c, identity }) => {
    const account = await deps.store.accounts.get(identity.accountId);
    if (account === undefined) throw new ServiceError("not_found", `Account ${identity.accountId} no longer exists`);
    return c.json({ data: presentAccount(account) });
  });
}

export function presentAccount({ id, email, balanceMicro, role, createdAtMs }: Account): z.infer<typeof accountSchema> {
  return { id, email, credits: presentCredits(balanceMicro), role, created_at: presentTime(createdAtMs) };
}
