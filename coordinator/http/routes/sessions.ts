import { createRoute, z } from "@hono/zod-openapi";
import { EMAIL_PATTERN, MAX_EMAIL, MAX_PASSWORD, MIN_PASSWORD } from "../../accounts/credential-fields.ts";
import type { SignedIn } from "../../accounts/identity.ts";
import { ServiceError } from "../../../shared/errors.ts";
import { accountSchema, presentAccount } from "./account.ts";
import { bearerToken } from "../middleware/auth.ts";
import { clientAddress } from "../server/client-address.ts";
import { serveScoped, servePublic } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { presentTime, timeSchema } from "../schemas/wire-units.ts";
import { data, failures, json, jsonBody } from "../schemas/responses.ts";

/**
 * Bounded here because each is hashed or looked up first. AccountService checks the stricter rules, which the document shows,
 * after it has counted the attempt.
 */
const credentialsSchema = z
  .object({
    email: z.string().max(1_000).openapi({ maxLength: MAX_EMAIL, pattern: EMAIL_PATTERN.source }),
    password: z.string().max(1_000).openapi({ minLength: MIN_PASSWORD, maxLength: MAX_PASSWORD }),
  })
  .openapi("Credentials");

const sessionSchema = z
  .object({
    token: z.string().openapi({ description: "st_…; has every scope and can manage keys" }),
    expires_at: timeSchema,
    account: accountSchema,
  })
  .openapi("Session");

const registerRoute = createRoute({
  operationId: "register",
  method: "post",
  path: `${API_BASE}/auth/register`,
  summary: "Open an account",
  description:
    "Where the operator wants proof of the address, the answer is 202, the same whether or not the address has an account. The mail " +
    "brings a token for POST /auth/verify, which sets the password.",
  request: jsonBody(credentialsSchema),
  responses: {
    201: json(data(sessionSchema), "The account and its first session"),
    202: {
      description: "A mail is on its way",
      content: {
        "application/json": {
          schema: data(z.object({ accepted: z.literal(true) })),
          example: { data: { accepted: true } },
        },
      },
    },
    ...failures(403),
  },
});

const verifyRoute = createRoute({
  operationId: "verifyEmail",
  method: "post",
  path: `${API_BASE}/auth/verify`,
  summary: "Open an account with the token of a mail",
  description: "A token works once, within an hour.",
  request: jsonBody(
    credentialsSchema
      .pick({ password: true })
      .extend({ token: z.string().max(200).openapi({ description: "ep_…, from the mail" }) })
      .openapi("EmailProof"),
  ),
  responses: { 201: json(data(sessionSchema), "The account and its first session"), ...failures(400, 403) },
});

const loginRoute = createRoute({
  operationId: "login",
  method: "post",
  path: `${API_BASE}/auth/login`,
  summary: "Start a session",
  description: "An account has at most 20 sessions; a new one ends the oldest.",
  request: jsonBody(credentialsSchema),
  responses: { 200: json(data(sessionSchema), "The session"), ...failures(401) },
});

const logoutRoute = createRoute({
  operationId: "logout",
  method: "post",
  path: `${API_BASE}/auth/logout`,
  summary: "End the session of the token that you send",
  responses: { 200: json(data(z.object({ logged_out: z.literal(true) })), "Ended"), ...failures(400) },
});

export function serveSessions(app: HttpApp, deps: HttpDeps): void {
  const { accounts, options } = deps;

  servePublic(app, registerRoute, async ({ c, body }) => {
    const session = await accounts.register(body.email, body.password, clientAddress(c.env.incoming, options));
    if (session === null) return c.json({ data: { accepted: true } }, 202);
    return c.json({ data: presentSession(session) }, 201);
  });

  servePublic(app, verifyRoute, async ({ c, body }) => {
    const session = await accounts.verify(body.token, body.password, clientAddress(c.env.incoming, options));
    return c.json({ data: presentSession(session) }, 201);
  });

  servePublic(app, loginRoute, async ({ c, body }) => {
    const session = await accounts.login(body.email, body.password, clientAddress(c.env.incoming, options));
    return c.json({ data: presentSession(session) });
  });

  serveScoped(app, deps, "read", logoutRoute, async ({ c, identity }) => {
    if (identity.kind !== "session")
      throw new ServiceError(
        "bad_request",
        "An API key has no session to end; send the session token, or revoke the key with DELETE /api-keys/{id}",
      );
    await accounts.logout(bearerToken(c.env.incoming) ?? "");
    c.get("limits").closeStreamsOf(identity.tokenHash);
    return c.json({ data: { logged_out: true } });
  });
}

function presentSession(session: SignedIn): z.infer<typeof sessionSchema> {
  return {
    token: session.token,
    expires_at: presentTime(session.expiresAtMs),
    account: presentAccount(session.account),
  };
}
