import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { EMAIL_PATTERN, MAX_EMAIL, MAX_PASSWORD, MIN_PASSWORD } from "../../accounts/credential-fields.ts";
import type { SignedIn } from "../../accounts/identity.ts";
import { ServiceError } from "../../../shared/errors.ts";
import { accountSchema, presentAccount } from "../schemas/account-schemas.ts";
import { credentialOf } from "../middleware/auth.ts";
import { clearSessionCookie, isConsole, setSessionCookie } from "../server/console-session.ts";
import { clientAddress } from "../server/client-address.ts";
import { serveScoped, servePublic } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps, type HttpEnv } from "../http-deps.ts";
import { presentTime, timeSchema } from "../schemas/wire-units.ts";
import { data, failures, json, jsonBody } from "../schemas/responses.ts";

/**
 * Bounded here because each is hashed or looked up first. `createAccount` checks the stricter rules, which the document shows,
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

const cookieSessionSchema = sessionSchema
  .omit({ token: true })
  .openapi("CookieSession", { description: "A session whose token is in the cookie `atoll_session` alone" });

const startedSchema = data(z.union([sessionSchema, cookieSessionSchema]));

const consoleHeader = z.object({
  "atoll-console": z.literal("1").optional().openapi({
    description:
      "The token comes as a cookie that no script can read, and not in the body. Only for pages of the coordinator itself",
  }),
});

const registerRoute = createRoute({
  operationId: "register",
  method: "post",
  path: `${API_BASE}/auth/register`,
  summary: "Open an account",
  description:
    "Where the operator wants proof of the address, the answer is 202, the same whether or not the address has an account. The mail " +
    "brings a token for POST /auth/verify, which sets the password.",
  request: { ...jsonBody(credentialsSchema), headers: consoleHeader },
  responses: {
    201: json(startedSchema, "The account and its first session"),
    202: {
      description: "A mail is on its way",
      content: {
        "application/json": {
          schema: data(z.object({ accepted: z.literal(true) })),
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
  request: {
    ...jsonBody(
      credentialsSchema
        .pick({ password: true })
        .extend({ token: z.string().max(200).openapi({ description: "ep_…, from the mail" }) })
        .openapi("EmailProof"),
    ),
    headers: consoleHeader,
  },
  responses: { 201: json(startedSchema, "The account and its first session"), ...failures(400, 403) },
});

const loginRoute = createRoute({
  operationId: "login",
  method: "post",
  path: `${API_BASE}/auth/login`,
  summary: "Start a session",
  description: "An account has at most 20 sessions; a new one ends the oldest.",
  request: { ...jsonBody(credentialsSchema), headers: consoleHeader },
  responses: { 200: json(startedSchema, "The session"), ...failures(401) },
});

const logoutRoute = createRoute({
  operationId: "logout",
  method: "post",
  path: `${API_BASE}/auth/logout`,
  summary: "End the session of the token or cookie that you send",
  responses: { 200: json(data(z.object({ logged_out: z.literal(true) })), "Ended"), ...failures(400) },
});

export function serveSessions(app: HttpApp, deps: HttpDeps): void {
  const { accounts, events, options, clock } = deps;

  const present = (c: Context<HttpEnv>, session: SignedIn): z.infer<typeof startedSchema> => {
    const shown = presentSession(session);
    if (!isConsole(c.env.incoming)) return { data: shown };
    const { token, expires_at, account } = shown;
    setSessionCookie(c.env, { token, lifetimeMs: session.expiresAtMs - clock.now() }, options);
    return { data: { expires_at, account } };
  };

  servePublic(app, registerRoute, async ({ c, body }) => {
    const session = await accounts.register(body.email, body.password, clientAddress(c.env.incoming, options));
    if (session === null) return c.json({ data: { accepted: true } }, 202);
    return c.json(present(c, session), 201);
  });

  servePublic(app, verifyRoute, async ({ c, body }) => {
    const session = await accounts.verify(body.token, body.password, clientAddress(c.env.incoming, options));
    return c.json(present(c, session), 201);
  });

  servePublic(app, loginRoute, async ({ c, body }) => {
    const session = await accounts.login(body.email, body.password, clientAddress(c.env.incoming, options));
    events.noteAccount(session.account.id);
    return c.json(present(c, session));
  });

  serveScoped(app, deps, "read", logoutRoute, async ({ c, identity }) => {
    if (identity.kind !== "session")
      throw new ServiceError(
        "bad_request",
        "An API key has no session to end; send the session token, or revoke the key with DELETE /api-keys/{id}",
      );
    const { incoming } = c.env;
    await accounts.logout(credentialOf(incoming) ?? "");
    if (incoming.headers.authorization === undefined) clearSessionCookie(c.env, options);
    c.get("limits").closeStreamsOf(identity.tokenHash);
    events.noteAccount(identity.accountId);
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
