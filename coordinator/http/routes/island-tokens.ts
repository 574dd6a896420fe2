import { createRoute, z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { MAX_NAME } from "../../accounts/credential-fields.ts";
import type { IslandToken } from "../../store/island-tokens.ts";
import { assertMayManageCredentials } from "../../accounts/api-keys.ts";
import { serveScoped, servePublic } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { data, failures, json, jsonBody } from "../schemas/responses.ts";
import { presentTime, presentTimeOrNull, timeSchema } from "../schemas/wire-units.ts";
import { clientAddress } from "../server/client-address.ts";

const createBody = z
  .object({ name: z.string().optional().openapi({ maxLength: MAX_NAME, description: 'Default: "Island token"' }) })
  .openapi("CreateIslandToken");

const tokenSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    created_at: timeSchema,
    last_used_at: timeSchema
      .nullable()
      .openapi({ description: "When an Island last began a session with it; a session may last for weeks" }),
  })
  .openapi("IslandToken");
const secretSchema = z.string().openapi({ description: "The secret, it_…; shown only here" });

const listRoute = createRoute({
  operationId: "listIslandTokens",
  method: "get",
  path: `${API_BASE}/island-tokens`,
  summary: "List Island tokens that are not revoked, newest first",
  responses: { 200: json(data(z.array(tokenSchema)), "Tokens") },
});

const createTokenRoute = createRoute({
  operationId: "createIslandToken",
  method: "post",
  path: `${API_BASE}/island-tokens`,
  summary: "Create an Island token",
  description:
    "Islands that join with it earn for the account. An account has at most 1,000; another one is 422 too_many_tokens. A revoked token " +
    "counts for one more minute.",
  request: jsonBody(createBody),
  responses: {
    201: json(
      z.object({ data: tokenSchema, token: secretSchema }),
      "The token with its secret, which is never shown again",
    ),
  },
});

const revokeRoute = createRoute({
  operationId: "revokeIslandToken",
  method: "delete",
  path: `${API_BASE}/island-tokens/{id}`,
  summary: "Revoke an Island token",
  description: "The Islands that joined with it are sent away, and their jobs go to others.",
  request: { params: z.object({ id: z.string() }) },
  responses: { 200: json(data(z.object({ id: z.string(), revoked: z.literal(true) })), "Revoked"), ...failures(404) },
});

const createCodeRoute = createRoute({
  operationId: "createPairingCode",
  method: "post",
  path: `${API_BASE}/island-tokens/pairing`,
  summary: "Create a pairing code",
  description:
    "For `island join <address> --code ABCD-EFGH`, so that no secret stands in a command. The code is valid for ten minutes and once, at every " +
    "coordinator of the network. An account has at most 5 at a time; another one is 422 too_many_codes.",
  request: jsonBody(createBody),
  responses: {
    201: json(
      data(
        z
          .object({
            code: z.string().openapi({ description: "Eight letters and digits, none of 0, 1, I and O" }),
            name: z.string().openapi({ description: "Of the token that the code becomes" }),
            expires_at: timeSchema,
          })
          .openapi("PairingCode"),
      ),
      "The code, which is never shown again",
    ),
  },
});

const pairRoute = createRoute({
  operationId: "pairIsland",
  method: "post",
  path: `${API_BASE}/island/pair`,
  summary: "Exchange a pairing code for an Island token",
  description:
    "What `island join --code` does. A code that is wrong, used or expired is 404. An address may try 10 codes a minute, all addresses together 300.",
  request: jsonBody(
    z.object({
      code: z.string().max(100).openapi({ description: "In capital or small letters, with or without the dash" }),
    }),
  ),
  responses: {
    201: json(
      data(z.object({ id: z.string(), name: z.string(), token: secretSchema, account_id: z.string() })),
      "The token, which is never shown again",
    ),
    ...failures(404),
  },
});

export function serveIslandTokens(app: HttpApp, deps: HttpDeps): void {
  const { accounts, events, islandSessions, options } = deps;

  serveScoped(app, deps, "read", listRoute, async ({ c, identity }) => {
    const tokens = await accounts.islandTokens.list(identity.accountId);
    return c.json({ data: tokens.map(presentToken) });
  });

  serveScoped(app, deps, "write", createTokenRoute, async ({ c, identity, body }) => {
    assertMayManageCredentials(identity);
    const { token, secret } = await accounts.islandTokens.create(identity.accountId, body.name);
    events.noteAccount(identity.accountId);
    return c.json({ data: presentToken(token), token: secret }, 201);
  });

  serveScoped(app, deps, "write", createCodeRoute, async ({ c, identity, body }) => {
    assertMayManageCredentials(identity);
    const { code, name, expiresAtMs } = await accounts.islandTokens.createCode(identity.accountId, body.name);
    return c.json({ data: { code, name, expires_at: presentTime(expiresAtMs) } }, 201);
  });

  serveScoped(app, deps, "write", revokeRoute, async ({ c, identity, params }) => {
    assertMayManageCredentials(identity);
    const wasRevoked = await accounts.islandTokens.revoke(identity.accountId, params.id);
    if (!wasRevoked) {
      throw new ServiceError(
        "not_found",
        `There is no Island token "${params.id}"; GET ${API_BASE}/island-tokens lists yours`,
      );
    }
    islandSessions.endSessionsOf(params.id);
    events.noteAccount(identity.accountId);
    return c.json({ data: { id: params.id, revoked: true } });
  });

  servePublic(app, pairRoute, async ({ c, body }) => {
    const { token, secret } = await accounts.islandTokens.redeem(body.code, clientAddress(c.env.incoming, options));
    const { id, name, accountId } = token;
    events.noteAccount(accountId);
    return c.json({ data: { id, name, token: secret, account_id: accountId } }, 201);
  });
}

function presentToken({ id, name, createdAtMs, lastUsedAtMs }: IslandToken): z.infer<typeof tokenSchema> {
  return { id, name, created_at: presentTime(createdAtMs), last_used_at: presentTimeOrNull(lastUsedAtMs) };
}
