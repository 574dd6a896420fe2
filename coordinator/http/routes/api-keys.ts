import { z } from "@hono/zod-openapi";
import { ServiceError, ValidationError } from "../../../shared/errors.ts";
import { assertMayManageCredentials } from "../../accounts/api-keys.ts";
import { SCOPES } from "../../store/accounts/credentials.ts";
import { requireScope } from "../middleware/auth.ts";
import { API_BASE, type HttpDeps } from "../http-deps.ts";
import {
  changeKeyBody,
  createdKeySchema,
  createKeyBody,
  keySchema,
  limitsOf,
  presentCreatedKey,
  presentKey,
} from "../schemas/api-key-schemas.ts";
import { data, json } from "../schemas/responses.ts";
import { routeGroup } from "../route-group.ts";

export const apiKeyRoutes = routeGroup("/api-keys", { tag: "Account" }, (routes, deps) => {
  const { accounts, events } = deps;

  routes.get("", {
    id: "listApiKeys",
    is: "List API keys that are not revoked, newest first",
    access: "read",
    answers: { 200: json(data(z.array(keySchema)), "Keys") },
  })(async ({ identity }) => {
    const keys = await accounts.listKeys(identity.accountId);
    // A second read only for those who use such limits.
    const isCounted = keys.some(({ monthlyMicro }) => monthlyMicro !== null);
    const spending = isCounted ? await accounts.keySpending(identity.accountId) : NO_SPENDING;
    return { data: keys.map((key) => presentKey(key, spending)) };
  });

  routes.post("", {
    id: "createApiKey",
    is: "Create an API key",
    about:
      "An account can have 50 keys; beyond that, 422 too_many_keys. A revoked key counts for one more minute. A key with limits cannot create or change keys, and can revoke only itself.",
    access: "write",
    body: createKeyBody,
    answers: { 201: json(createdKeySchema, "The key with its secret, which is shown only once") },
  })(async ({ identity, body }) => {
    const scopes = body.scopes ?? [...SCOPES];
    // A key cannot grant more than it has.
    for (const scope of scopes) requireScope(identity, scope);
    assertMayManageCredentials(identity);
    const limits = limitsOf(body);
    await assertKnown(deps, limits.cargos ?? [], identity.accountId);
    const { key, secret } = await accounts.createKey(identity.accountId, { name: body.name, scopes, limits });
    events.noteAccount(identity.accountId);
    return presentCreatedKey(key, secret);
  });

  routes.patch("/{id}", {
    id: "changeApiKey",
    is: "Change the name and the limits of an API key",
    about:
      "Omitted members do not change; null removes a limit. Changes apply from the next request on. A new credits_per_month includes what the key's jobs already cost this month.",
    access: "write",
    body: changeKeyBody,
    answers: { 200: json(data(keySchema), "The changed key") },
    fails: [404],
  })(async ({ identity, params, body }) => {
    const { accountId } = identity;
    assertMayManageCredentials(identity);
    const limits = limitsOf(body);
    await assertKnown(deps, limits.cargos ?? [], accountId);
    const change = { ...limits, ...(body.name === undefined ? {} : { name: body.name }) };
    const key = await accounts.changeKey(accountId, params.id, change);
    if (key === undefined) throw noKey(params.id);
    events.noteAccount(accountId);
    return { data: presentKey(key, await accounts.keySpending(accountId)) };
  });

  routes.delete("/{id}", {
    id: "revokeApiKey",
    is: "Revoke an API key at once",
    access: "write",
    answers: { 200: json(data(z.object({ id: z.string(), revoked: z.literal(true) })), "Revoked") },
    fails: [404],
  })(async ({ c, identity, params }) => {
    assertMayManageCredentials(identity, params.id);
    const wasRevoked = await accounts.revokeKey(identity.accountId, params.id);
    if (!wasRevoked) throw noKey(params.id);
    c.get("limits").closeStreamsOf(params.id);
    events.noteAccount(identity.accountId);
    return { data: { id: params.id, revoked: true } };
  });
});

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
