import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { ServiceError } from "../../../shared/errors.ts";
import { EMAIL_PATTERN, MAX_EMAIL, MAX_PASSWORD, MIN_PASSWORD } from "../../accounts/credential-fields.ts";
import type { SignedIn, Identity } from "../../accounts/identity.ts";
import type { ShownSession } from "../../accounts/accounts.ts";
import type { PasswordCaller } from "../../accounts/password-changes.ts";
import { accountSchema, presentAccount } from "../schemas/account-schemas.ts";
import { credentialOf } from "../middleware/auth.ts";
import { clearSessionCookie, isConsole, setSessionCookie } from "../server/console-session.ts";
import { clientAddress } from "../server/client-address.ts";
import { API_BASE, type HttpEnv } from "../http-deps.ts";
import type { HttpOptions } from "../http-options.ts";
import { presentTime, timeSchema, presentTimeOrNull } from "../schemas/wire-units.ts";
import { data, json } from "../schemas/responses.ts";
import { routeGroup } from "../route-group.ts";

/** Text of an e-mail address, limited because it is looked up. Services check the stricter rules in the document. */
export const emailText = z.string().max(1_000).openapi({ maxLength: MAX_EMAIL, pattern: EMAIL_PATTERN.source });
/** Text of a password, limited because it is hashed. */
export const passwordText = z.string().max(1_000).openapi({ minLength: MIN_PASSWORD, maxLength: MAX_PASSWORD });

export const mailedToken = z.string().max(200).describe("Token (ep_…) from the e-mail");

const credentialsSchema = z.object({ email: emailText, password: passwordText }).openapi("Credentials");

const sessionSchema = z
  .object({
    token: z.string().describe("Session token (st_…), which has every scope and can manage keys"),
    expires_at: timeSchema,
    account: accountSchema,
  })
  .openapi("Session");

const cookieSessionSchema = sessionSchema
  .omit({ token: true })
  .openapi("CookieSession", { description: "A session whose token is only in the cookie `atoll_session`" });

const startedSchema = data(z.union([sessionSchema, cookieSessionSchema]));

const consoleHeader = z.object({
  "atoll-console": z
    .literal("1")
    .optional()
    .describe(
      "With this header, the token comes in a cookie that no script can read, instead of in the body. Only for pages of the coordinator itself",
    ),
});

const shownSessionSchema = z
  .object({
    id: z.string(),
    created_at: timeSchema,
    last_used_at: timeSchema
      .nullable()
      .describe("Time in UTC, as ISO 8601, accurate to a minute; null if the session was never used"),
    expires_at: timeSchema,
    current: z.boolean().describe("Whether this is the session of the request"),
  })
  .openapi("AccountSession");

const changedSchema = z.object({ password_changed: z.literal(true) });

export const sessionRoutes = routeGroup("", { tag: "Account" }, (routes, deps) => {
  const { accounts, events, options, clock } = deps;

  const present = (c: Context<HttpEnv>, session: SignedIn): z.infer<typeof startedSchema> => {
    const { token, expiresAtMs } = session;
    const shown = { expires_at: presentTime(expiresAtMs), account: presentAccount(session.account) };
    if (!isConsole(c.env.incoming)) return { data: { token, ...shown } };
    setSessionCookie(c.env, { token, lifetimeMs: expiresAtMs - clock.now() }, options);
    return { data: shown };
  };

  routes.post("/auth/register", {
    id: "register",
    is: "Create an account",
    about:
      "If the operator requires a confirmed address, the response is 202, whether or not the address has an account. The e-mail has a token for POST /auth/verify, which sets the password.",
    access: "public",
    headers: consoleHeader,
    body: credentialsSchema,
    responses: {
      201: json(startedSchema, "The account and its first session"),
      202: json(data(z.object({ accepted: z.literal(true) })), "Accepted; the token is sent by e-mail"),
    },
    fails: [403],
  })(async ({ c, body }) => {
    const session = await accounts.register(body.email, body.password, clientAddress(c.env.incoming, options));
    if (session === null) return c.json({ data: { accepted: true } }, 202);
    return present(c, session);
  });

  routes.post("/auth/verify", {
    id: "verifyEmail",
    is: "Create an account with a mailed token",
    about: "The token works once, within an hour.",
    access: "public",
    headers: consoleHeader,
    body: credentialsSchema.pick({ password: true }).extend({ token: mailedToken }).openapi("EmailProof"),
    responses: { 201: json(startedSchema, "The account and its first session") },
    fails: [400, 403],
  })(async ({ c, body }) => {
    const session = await accounts.verify(body.token, body.password, clientAddress(c.env.incoming, options));
    return present(c, session);
  });

  routes.post("/auth/login", {
    id: "login",
    is: "Start a session",
    about: "An account can have 20 sessions; a new one ends the oldest.",
    access: "public",
    headers: consoleHeader,
    body: credentialsSchema,
    responses: { 200: json(startedSchema, "The session") },
    fails: [401],
  })(async ({ c, body }) => {
    const session = await accounts.login(body.email, body.password, clientAddress(c.env.incoming, options));
    events.noteAccount(session.account.id);
    return present(c, session);
  });

  routes.post("/auth/logout", {
    id: "logout",
    is: "End the session of the request's token or cookie",
    access: "read",
    responses: { 200: json(data(z.object({ logged_out: z.literal(true) })), "Ended") },
    fails: [400],
  })(async ({ c, identity }) => {
    if (identity.kind !== "session")
      throw new ServiceError(
        "bad_request",
        "An API key has no session to end. Send the session token, or revoke the key with DELETE /api-keys/{id}",
      );
    await accounts.logout(credentialOf(c.env.incoming) ?? "");
    clearSessionCookie(c.env, options);
    c.get("limits").closeStreamsOf(identity.tokenHash);
    events.noteAccount(identity.accountId);
    return { data: { logged_out: true } };
  });

  routes.get("/sessions", {
    id: "listSessions",
    is: "List the sessions of the account, newest first",
    about: "Needs a session. An account can have 20 sessions.",
    access: "read",
    responses: { 200: json(data(z.array(shownSessionSchema)), "Sessions") },
    fails: [400],
  })(async ({ c, identity }) => {
    const sessions = await accounts.listSessions(passwordCaller(c, identity, options));
    return { data: sessions.map(presentShown) };
  });

  routes.delete("/sessions/{id}", {
    id: "endSession",
    is: "End a session at once",
    about: "Needs a session. If you end the session of this request, its cookie is cleared.",
    access: "write",
    responses: { 200: json(data(z.object({ id: z.string(), ended: z.literal(true) })), "Ended") },
    fails: [400, 404],
  })(async ({ c, identity, params: { id } }) => {
    const { accountId } = passwordCaller(c, identity, options);
    const tokenHash = await accounts.endSession(accountId, id);
    if (tokenHash === undefined) {
      throw new ServiceError("not_found", `There is no session "${id}". GET ${API_BASE}/sessions lists yours`);
    }
    c.get("limits").closeStreamsOf(tokenHash);
    events.noteAccount(accountId);
    if (identity.kind === "session" && identity.tokenHash === tokenHash) clearSessionCookie(c.env, options);
    return { data: { id, ended: true } };
  });

  routes.post("/account/password", {
    id: "changePassword",
    is: "Change the password",
    about: "Needs a session. All other sessions of the account end; API keys stay.",
    access: "write",
    body: z.object({ current: z.string().max(1_000), new: passwordText }),
    responses: { 200: json(data(changedSchema), "Changed") },
    fails: [400, 404],
  })(async ({ c, identity, body }) => {
    await accounts.passwordChanges.change(passwordCaller(c, identity, options), body.current, body.new);
    events.noteAccount(identity.accountId);
    return { data: { password_changed: true } };
  });

  routes.post("/auth/password/forgot", {
    id: "requestPasswordReset",
    is: "Get a password reset by e-mail",
    about:
      "The response is the same whether or not the address has an account. The mailed token is valid for an hour. 403 if the coordinator does not send e-mail; its operator can create a reset token.",
    access: "public",
    body: z.object({ email: emailText }),
    responses: { 200: json(data(z.object({ accepted: z.literal(true) })), "Accepted") },
    fails: [403],
  })(({ c, body }) => {
    accounts.passwordChanges.request(body.email, clientAddress(c.env.incoming, options));
    return { data: { accepted: true } };
  });

  routes.post("/auth/password/reset", {
    id: "resetPassword",
    is: "Set a new password with a reset token",
    about: "The token works once. All sessions of the account end; API keys stay.",
    access: "public",
    body: z.object({
      token: z.string().max(200).describe("Token (pr_…) from the e-mail or from the operator"),
      new: passwordText,
    }),
    responses: { 200: json(data(changedSchema), "Changed") },
    fails: [400],
  })(async ({ c, body }) => {
    await accounts.passwordChanges.reset(body.token, body.new, clientAddress(c.env.incoming, options));
    return { data: { password_changed: true } };
  });
});

function presentShown(session: ShownSession): z.infer<typeof shownSessionSchema> {
  return {
    id: session.id,
    created_at: presentTime(session.createdAtMs),
    last_used_at: presentTimeOrNull(session.lastUsedAtMs),
    expires_at: presentTime(session.expiresAtMs),
    current: session.isCurrent,
  };
}

/** Returns the caller as the password services need it. @throws {ServiceError} `bad_request` for an API key. */
export function passwordCaller(c: Context<HttpEnv>, identity: Identity, options: HttpOptions): PasswordCaller {
  if (identity.kind !== "session") {
    throw new ServiceError("bad_request", "An API key cannot do this. Sign in and send the session token");
  }
  const { accountId, tokenHash } = identity;
  return { accountId, tokenHash, address: clientAddress(c.env.incoming, options) };
}
