import { z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { MAX_NAME } from "../../accounts/credential-fields.ts";
import type { IslandToken } from "../../store/island-tokens.ts";
import { assertMayManageCredentials } from "../../accounts/api-keys.ts";
import { API_BASE } from "../http-deps.ts";
import { data, json } from "../schemas/responses.ts";
import { presentTime, presentTimeOrNull, timeSchema } from "../schemas/wire-units.ts";
import { clientAddress } from "../server/client-address.ts";
import { routeGroup } from "../route-group.ts";

const createBody = z
  .object({
    name: z
      .string()
      .optional()
      .openapi({ maxLength: MAX_NAME, description: 'Name of the token. Default: "Island token"' }),
  })
  .openapi("CreateIslandToken");

const tokenSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    created_at: timeSchema,
    last_used_at: timeSchema
      .nullable()
      .describe("When an Island last started a session with the token; a session can last for weeks"),
  })
  .openapi("IslandToken");
const secretSchema = z.string().describe("Secret (it_…), which is shown only here");

export const islandTokenRoutes = routeGroup("", { tag: "Islands" }, (routes, deps) => {
  const { accounts, events, islandSessions, options } = deps;

  routes.get("/island-tokens", {
    id: "listIslandTokens",
    is: "List Island tokens that are not revoked, newest first",
    access: "read",
    responses: { 200: json(data(z.array(tokenSchema)), "Tokens") },
  })(async ({ identity }) => {
    const tokens = await accounts.islandTokens.list(identity.accountId);
    return { data: tokens.map(presentToken) };
  });

  routes.post("/island-tokens", {
    id: "createIslandToken",
    is: "Create an Island token",
    about:
      "Islands that join with it earn for the account. An account can have 1,000 tokens; beyond that, 422 too_many_tokens. A revoked token counts for one more minute.",
    access: "write",
    body: createBody,
    responses: {
      201: json(
        z.object({ data: tokenSchema, token: secretSchema }),
        "The token with its secret, which is never shown again",
      ),
    },
  })(async ({ identity, body }) => {
    assertMayManageCredentials(identity);
    const { token, secret } = await accounts.islandTokens.create(identity.accountId, body.name);
    events.noteAccount(identity.accountId);
    return { data: presentToken(token), token: secret };
  });

  routes.post("/island-tokens/pairing", {
    id: "createPairingCode",
    is: "Create a pairing code",
    about:
      "For `island join <address> --code ABCD-EFGH`, which keeps the token out of the command. The code works once, within ten minutes, at every coordinator of the network. An account can have 5 codes at a time; beyond that, 422 too_many_codes.",
    access: "write",
    body: createBody,
    responses: {
      201: json(
        data(
          z
            .object({
              code: z.string().describe("Eight letters and digits, without 0, 1, I and O"),
              name: z.string().describe("Name of the token for which the code is exchanged"),
              expires_at: timeSchema,
            })
            .openapi("PairingCode"),
        ),
        "The code, which is never shown again",
      ),
    },
  })(async ({ identity, body }) => {
    assertMayManageCredentials(identity);
    const { code, name, expiresAtMs } = await accounts.islandTokens.createCode(identity.accountId, body.name);
    return { data: { code, name, expires_at: presentTime(expiresAtMs) } };
  });

  routes.delete("/island-tokens/{id}", {
    id: "revokeIslandToken",
    is: "Revoke an Island token",
    about: "Islands that joined with it are disconnected, and their jobs go to other Islands.",
    access: "write",
    responses: { 200: json(data(z.object({ id: z.string(), revoked: z.literal(true) })), "Revoked") },
    fails: [404],
  })(async ({ identity, params }) => {
    assertMayManageCredentials(identity);
    const wasRevoked = await accounts.islandTokens.revoke(identity.accountId, params.id);
    if (!wasRevoked) {
      throw new ServiceError(
        "not_found",
        `There is no Island token "${params.id}". GET ${API_BASE}/island-tokens lists yours`,
      );
    }
    islandSessions.endSessionsOf(params.id);
    events.noteAccount(identity.accountId);
    return { data: { id: params.id, revoked: true } };
  });

  routes.post("/island/pair", {
    id: "pairIsland",
    is: "Exchange a pairing code for an Island token",
    about:
      "Used by `island join --code`. A wrong, used or expired code is refused with 404. One client address may send 10 codes a minute, and all addresses together 5 codes with the same first three characters.",
    access: "public",
    body: z.object({
      code: z.string().max(100).describe("Pairing code, in capital or small letters, with or without the dash"),
    }),
    responses: {
      201: json(
        data(z.object({ id: z.string(), name: z.string(), token: secretSchema, account_id: z.string() })),
        "The token, which is never shown again",
      ),
    },
    fails: [404],
  })(async ({ c, body }) => {
    const { token, secret } = await accounts.islandTokens.redeem(body.code, clientAddress(c.env.incoming, options));
    const { id, name, accountId } = token;
    events.noteAccount(accountId);
    return { data: { id, name, token: secret, account_id: accountId } };
  });
});

function presentToken({ id, name, createdAtMs, lastUsedAtMs }: IslandToken): z.infer<typeof tokenSchema> {
  return { id, name, created_at: presentTime(createdAtMs), last_used_at: presentTimeOrNull(lastUsedAtMs) };
}
