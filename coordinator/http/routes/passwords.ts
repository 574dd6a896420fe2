import { createRoute, z } from "@hono/zod-openapi";
import { EMAIL_PATTERN, MAX_EMAIL } from "../../accounts/credential-fields.ts";
import { clientAddress } from "../server/client-address.ts";
import { servePublic, serveScoped } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { passwordCaller, passwordText } from "./password-caller.ts";
import { data, failures, json, jsonBody } from "../schemas/responses.ts";

const changedSchema = z.object({ password_changed: z.literal(true) });

const changeRoute = createRoute({
  operationId: "changePassword",
  method: "post",
  path: `${API_BASE}/account/password`,
  summary: "Change the password",
  description: "Needs a session. All other sessions of the account end; API keys stay.",
  request: jsonBody(z.object({ current: z.string().max(1_000), new: passwordText })),
  responses: { 200: json(data(changedSchema), "Changed"), ...failures(400, 404) },
});

const requestRoute = createRoute({
  operationId: "requestPasswordReset",
  method: "post",
  path: `${API_BASE}/auth/password/forgot`,
  summary: "Get a password reset by e-mail",
  description:
    "The answer is the same whether or not the address has an account. The mailed token is valid for an hour. 403 if this coordinator " +
    "sends no e-mail: its operator can make a reset.",
  request: jsonBody(
    z.object({ email: z.string().max(1_000).openapi({ maxLength: MAX_EMAIL, pattern: EMAIL_PATTERN.source }) }),
  ),
  responses: { 200: json(data(z.object({ accepted: z.literal(true) })), "Accepted"), ...failures(403) },
});

const resetRoute = createRoute({
  operationId: "resetPassword",
  method: "post",
  path: `${API_BASE}/auth/password/reset`,
  summary: "Set a new password with a reset token",
  description: "A token works once. All sessions of the account end; API keys stay.",
  request: jsonBody(
    z.object({
      token: z.string().max(200).openapi({ description: "pr_…, from an e-mail or from the operator" }),
      new: passwordText,
    }),
  ),
  responses: { 200: json(data(changedSchema), "Changed"), ...failures(400) },
});

export function servePasswords(app: HttpApp, deps: HttpDeps): void {
  const { accounts, events, options } = deps;

  serveScoped(app, deps, "write", changeRoute, async ({ c, identity, body }) => {
    await accounts.passwordChanges.change(passwordCaller(c, identity, options), body.current, body.new);
    events.noteAccount(identity.accountId);
    return c.json({ data: { password_changed: true } });
  });

  servePublic(app, requestRoute, async ({ c, body }) => {
    accounts.passwordChanges.request(body.email, clientAddress(c.env.incoming, options));
    return c.json({ data: { accepted: true } });
  });

  servePublic(app, resetRoute, async ({ c, body }) => {
    await accounts.passwordChanges.reset(body.token, body.new, clientAddress(c.env.incoming, options));
    return c.json({ data: { password_changed: true } });
  });
}
