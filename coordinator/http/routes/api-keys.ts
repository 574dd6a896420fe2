import { createRoute, z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { MAX_NAME } from "../../accounts/credential-fields.ts";
import { SCOPES, type ApiKey } from "../../store/account-store.ts";
import { requireScope } from "../middleware/auth.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { presentTime, presentTimeOrNull, timeSchema } from "../schemas/wire-units.ts";
import { data, failures, json, jsonBody } from "../schemas/responses.ts";

const ANY_SCOPE = `\\s*(${SCOPES.join("|")})\\s*`;
const scopeListSchema = z
  .string()
  .openapi({ pattern: `^${ANY_SCOPE}(,${ANY_SCOPE})*$` })
  .transform((list) => list.split(",").map((scope) => scope.trim()));
const scopeArraySchema = z.array(z.string().openapi({ enum: [...SCOPES] })).openapi({ minItems: 1 });

/** A comma-separated string (spec §4), or an array, which people try first. The document describes both forms fully. */
const scopesSchema = z
  .union([scopeListSchema, scopeArraySchema])
  .pipe(z.array(z.enum(SCOPES)).min(1))
  .transform((scopes) => SCOPES.filter((scope) => scopes.includes(scope)))
  .openapi({ description: "Comma-separated list of read and write, or an array of them", example: "read,write" });

const createBody = z
  .object({ name: z.string().optional().openapi({ maxLength: MAX_NAME }), scopes: scopesSchema.optional() })
  .openapi("CreateApiKey");

const keyFields = {
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  created_at: timeSchema,
};
const newKeySchema = z.object({ ...keyFields, prefix: z.string() });
const keySchema = newKeySchema.extend({ last_used_at: timeSchema.nullable() }).openapi("ApiKey");

const createdSchema = z
  .object({ data: newKeySchema, key: z.string().openapi({ description: "The secret; shown only here" }), ...keyFields })
  .openapi("CreatedApiKey");

const listRoute = createRoute({
  operationId: "listApiKeys",
  method: "get",
  path: `${API_BASE}/api-keys`,
  summary: "List API keys that are not revoked, newest first",
  responses: { 200: json(data(z.array(keySchema)), "Keys") },
});

const createKeyRoute = createRoute({
  operationId: "createApiKey",
  method: "post",
  path: `${API_BASE}/api-keys`,
  summary: "Create an API key",
  description: "An account has at most 50; another one is 422 too_many_keys. A revoked key counts for one more minute.",
  request: jsonBody(createBody),
  responses: { 201: json(createdSchema, "The key with its secret, which is never shown again") },
});

const revokeRoute = createRoute({
  operationId: "revokeApiKey",
  method: "delete",
  path: `${API_BASE}/api-keys/{id}`,
  summary: "Revoke an API key at once",
  request: { params: z.object({ id: z.string() }) },
  responses: { 200: json(data(z.object({ id: z.string(), revoked: z.literal(true) })), "Revoked"), ...failures(404) },
});

export function serveApiKeys(app: HttpApp, deps: HttpDeps): void {
  const { accounts } = deps;

  serveScoped(app, deps, "read", listRoute, async ({ c, identity }) => {
    const keys = await accounts.listKeys(identity.accountId);
    return c.json({ data: keys.map(presentKey) });
  });

  serveScoped(app, deps, "write", createKeyRoute, async ({ c, identity, body }) => {
    const scopes = body.scopes ?? [...SCOPES];
    // A key cannot grant more than it has.
    for (const scope of scopes) requireScope(identity, scope);
    const { key, secret } = await accounts.createKey(identity.accountId, { name: body.name, scopes });
    return c.json(presentCreated(key, secret), 201);
  });

  serveScoped(app, deps, "write", revokeRoute, async ({ c, identity, params }) => {
    const wasRevoked = await accounts.revokeKey(identity.accountId, params.id);
    if (!wasRevoked)
      throw new ServiceError("not_found", `There is no API key "${params.id}"; GET ${API_BASE}/api-keys lists yours`);
    c.get("limits").closeStreamsOf(params.id);
    return c.json({ data: { id: params.id, revoked: true } });
  });
}

function presentKey(key: ApiKey): z.infer<typeof keySchema> {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    scopes: [...key.scopes],
    created_at: presentTime(key.createdAtMs),
    last_used_at: presentTimeOrNull(key.lastUsedAtMs),
  };
}

/** Both shapes of spec §4 in one body. */
function presentCreated(key: ApiKey, secret: string): z.infer<typeof createdSchema> {
  const { id, name, prefix, scopes, created_at } = presentKey(key);
  return { data: { id, name, prefix, scopes, created_at }, key: secret, id, name, scopes, created_at };
}
