import { createRoute, z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import type { Account } from "../../store/account-store.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { creditsSchema, presentCredits, presentTime, timeSchema } from "../schemas/wire-units.ts";
import { data, failures, json } from "../schemas/responses.ts";

export const accountSchema = z
  .object({ id: z.string(), email: z.string(), credits: creditsSchema, created_at: timeSchema })
  .openapi("Account");

const accountRoute = createRoute({
  operationId: "getAccount",
  method: "get",
  path: `${API_BASE}/account`,
  summary: "The caller's account and credits",
  responses: { 200: json(data(accountSchema), "The account"), ...failures(404) },
});

export function serveAccount(app: HttpApp, deps: HttpDeps): void {
  serveScoped(app, deps, "read", accountRoute, async ({ c, identity }) => {
    const account = await deps.store.accounts.get(identity.accountId);
    if (account === undefined) throw new ServiceError("not_found", `Account ${identity.accountId} no longer exists`);
    return c.json({ data: presentAccount(account) });
  });
}

export function presentAccount({ id, email, balanceMicro, createdAtMs }: Account): z.infer<typeof accountSchema> {
  return { id, email, credits: presentCredits(balanceMicro), created_at: presentTime(createdAtMs) };
}
