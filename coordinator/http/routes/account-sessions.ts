import { createRoute, z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import type { ShownSession } from "../../accounts/accounts.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { data, failures, json } from "../schemas/responses.ts";
import { presentTime, presentTimeOrNull, timeSchema } from "../schemas/wire-units.ts";
import { clearSessionCookie } from "../server/console-session.ts";
import { passwordCaller } from "./password-caller.ts";

const sessionSchema = z
  .object({
    id: z.string(),
    created_at: timeSchema,
    last_used_at: timeSchema.nullable().openapi({ description: "ISO 8601, UTC; up to a minute old. Null: never" }),
    expires_at: timeSchema,
    current: z.boolean().openapi({ description: "The session that asks" }),
  })
  .openapi("AccountSession");

const listRoute = createRoute({
  operationId: "listSessions",
  method: "get",
  path: `${API_BASE}/sessions`,
  summary: "List the sessions of the account, newest first",
  description: "Needs a session. An account has at most 20.",
  responses: { 200: json(data(z.array(sessionSchema)), "Sessions"), ...failures(400) },
});

const endRoute = createRoute({
  operationId: "endSession",
  method: "delete",
  path: `${API_BASE}/sessions/{id}`,
  summary: "End a session at once",
  description: "Needs a session. It may be the one that asks; then its cookie is cleared.",
  request: { params: z.object({ id: z.string() }) },
  responses: {
    200: json(data(z.object({ id: z.string(), ended: z.literal(true) })), "Ended"),
    ...failures(400, 404),
  },
});

export function serveAccountSessions(app: HttpApp, deps: HttpDeps): void {
  const { accounts, events, options } = deps;

  serveScoped(app, deps, "read", listRoute, async ({ c, identity }) => {
    const sessions = await accounts.listSessions(passwordCaller(c, identity, options));
    return c.json({ data: sessions.map(presentSession) });
  });

  serveScoped(app, deps, "write", endRoute, async ({ c, identity, params: { id } }) => {
    const { accountId } = passwordCaller(c, identity, options);
    const tokenHash = await accounts.endSession(accountId, id);
    if (tokenHash === undefined) {
      throw new ServiceError("not_found", `There is no session "${id}"; GET ${API_BASE}/sessions lists yours`);
    }
    c.get("limits").closeStreamsOf(tokenHash);
    events.noteAccount(accountId);
    const isOwn = identity.kind === "session" && identity.tokenHash === tokenHash;
    if (isOwn && c.env.incoming.headers.authorization === undefined) clearSessionCookie(c.env, options);
    return c.json({ data: { id, ended: true } });
  });
}

function presentSession(session: ShownSession): z.infer<typeof sessionSchema> {
  return {
    id: session.id,
    created_at: presentTime(session.createdAtMs),
    last_used_at: presentTimeOrNull(session.lastUsedAtMs),
    expires_at: presentTime(session.expiresAtMs),
    current: session.isCurrent,
  };
}
