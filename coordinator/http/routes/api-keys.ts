import { createRoute, z } from "@hono/zod-openapi";
import { ServiceError, ValidationError } from "../../../shared/errors.ts";
import { assertMayManageCredentials } from "../../accounts/key-limits.ts";
import { SCOPES } from "../../store/accounts/credentials.ts";
import { requireScope } from "../middleware/auth.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import {
  changeKeyBody,
  createdKeySchema,
  createKeyBody,
  keySchema,
  limitsOf,
  presentCreatedKey,
  presentKey,
} from "../schemas/api-key-schemas.ts";
import { data, failures, json, jsonBody } from "../schemas/responses.ts";

const keyParams = z.object({ id: z.string() });

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
  description:
    "An account has at most 50; another one is 422 too_many_keys. A revoked key counts for one more minute. A key with limits cannot make " +
    "or change keys, and revokes only itself.",
  request: jsonBody(createKeyBody),
  responses: { 201: json(createdKeySchema, "The key with its secret, which is never shown again") },
});

const changeRoute = createRoute({
  operationId: "changeApiKey",
  method: "patch",
  path: `${API_BASE}/api-keys/{id}`,
  summary: "Change the name and the limits of an API key",
  description:
    "Members that are left out stay; null removes a limit. It counts from the next request on. A key that gets credits_per_month has spent " +
    "what its jobs cost since the month began.",
  request: { params: keyParams, ...jsonBody(changeKeyBody) },
  responses: { 200: json(data(keySchema), "The key as it is now"), ...failures(404) },
});

const revokeRoute = createRoute({
  operationId: "revokeApiKey",
  method: "delete",
  path: `${API_BASE}/api-keys/{id}`,
  summary: "Revoke an API key at once",
  request: { params: keyParams },
  responses: { 200: json(data(z.object({ id: z.string(), revoked: z.literal(true) })), "Revoked"), ...failures(404) },
});

export function serveApiKeys(app: HttpApp, deps: HttpDeps): void {
  const { accounts, events } = deps;

  serveScoped(app, deps, "read", listRoute, async ({ c, identity }) => {
    const keys = await accounts.listKeys(identity.accountId);
    // A second read only for those who use such limits.
    const isCounted = keys.some(({ monthlyMicro }) => monthlyMicro !== null);
    const spending = isCounted ? await accounts.settings.keySpending(identity.accountId) : NO_SPENDING;
    return c.json({ data: keys.map((key) => presentKey(key, spending)) });
  });

  serveScoped(app, deps, "write", createKeyRoute, async ({ c, identity, body }) => {
    const scopes = body.scopes ?? [...SCOPES];
    // A key cannot grant more than it has.
    for (const scope of scopes) requireScope(identity, scope);
    assertMayManageCredentials(identity);
    const limits = limitsOf(body);
    await assertKnown(deps, limits.cargos ?? [], identity.accountId);
    const { key, secret } = await accounts.createKey(identity.accountId, { name: body.name, scopes, limits });
    events.noteAccount(identity.accountId);
    return c.json(presentCreatedKey(key, secret), 201);
  });

  serveScoped(app, deps, "write", changeRoute, async ({ c, identity, params, body }) => {
    const { accountId } = identity;
    assertMayManageCredentials(identity);
    const limits = limitsOf(body);
    await assertKnown(deps, limits.cargos ?? [], accountId);
    const change = { ...limits, ...(body.name === undefined ? {} : { name: body.name }) };
    const key = await accounts.settings.changeKey(accountId, params.id, change);
    if (key === undefined) throw noKey(params.id);
    events.noteAccount(accountId);
    return c.json({ data: presentKey(key, await accounts.settings.keySpending(accountId)) });
  });

  serveScoped(app, deps, "write", revokeRoute, async ({ c, identity, params }) => {
    assertMayManageCredentials(identity, params.id);
    const wasRevoked = await accounts.revokeKey(identity.accountId, params.id);
    if (!wasRevoked) throw noKey(params.id);
    c.get("limits").closeStreamsOf(params.id);
    events.noteAccount(identity.accountId);
    return c.json({ data: { id: params.id, revoked: true } });
  });
}

const NO_SPENDING: ReadonlyMap<string, number> = new Map();

/** A key for a Cargo that is misspelt could run nothing. @throws {ValidationError} naming every Cargo that the account cannot run. */
async function assertKnown(
  { catalog }: Pick<HttpDeps, "catalog">,
  slugs: readonly string[],
  accountId: string,
): Promise<void> {
  const found = await Promise.all(
    slugs.map(async (slug) => catalog.find(slug, accountId) ?? (await catalog.seek(slug, accountId))),
  );
  const errors = slugs.flatMap((slug, index) =>
    found[index] === undefined ? [{ path: `cargos.${index}`, message: `there is no Cargo "${slug}"` }] : [],
  );
  if (errors.length > 0) throw new ValidationError(errors);
}

function noKey(id: string): ServiceError {
  return new ServiceError("not_found", `There is no API key "${id}"; GET ${API_BASE}/api-keys lists yours`);
}
