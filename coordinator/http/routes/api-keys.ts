import { z } from "@hono/zod-openapi";
import { ServiceError, ValidationError } from "../../../shared/errors.ts";
import { assertMayManageCredentials, MAX_KEY_CARGOS, MAX_SLUG } from "../../accounts/api-keys.ts";
import { type ApiKey, SCOPES } from "../../store/accounts/credentials.ts";
import { MAX_NAME } from "../../accounts/credential-fields.ts";
import { TRUSTS } from "../../credits/trust.ts";
import { microFromCredits } from "../../credits/micro-credits.ts";
import type { KeyLimits } from "../../store/accounts/key-spending.ts";
import { requireScope } from "../middleware/auth.ts";
import { API_BASE, type HttpDeps } from "../http-deps.ts";
import { data, json } from "../schemas/responses.ts";
import { routeGroup } from "../route-group.ts";
import { creditsSchema, presentCredits, presentTime, presentTimeOrNull, timeSchema } from "../schemas/wire-units.ts";

const ANY_SCOPE = `\\s*(${SCOPES.join("|")})\\s*`;
const scopeListSchema = z
  .string()
  .openapi({ pattern: `^${ANY_SCOPE}(,${ANY_SCOPE})*$` })
  .transform((list) => list.split(",").map((scope) => scope.trim()));
const scopeArraySchema = z.array(z.string().openapi({ enum: [...SCOPES] })).openapi({ minItems: 1 });

/** Scopes of a new key: a comma-separated string (spec §4), or an array, which many clients send first. */
const scopesSchema = z
  .union([scopeListSchema, scopeArraySchema])
  .pipe(z.array(z.enum(SCOPES)).min(1))
  .transform((scopes) => SCOPES.filter((scope) => scopes.includes(scope)))
  .describe("Comma-separated list, or array, of `read` and `write`");

const MAX_MONTHLY_CREDITS = 4_000_000_000;

const isAmount = (credits: number): boolean => {
  try {
    return microFromCredits(credits) >= 0;
  } catch {
    return false;
  }
};

/** Limits of a key. `null` means no limit. */
const limitFields = {
  expires_at: z.iso
    .datetime()
    .nullable()
    .optional()
    .describe("When the key expires (401 key_expired); null if it never expires"),
  cargos: z
    .array(z.string().min(1).max(MAX_SLUG))
    .min(1)
    .max(MAX_KEY_CARGOS)
    .nullable()
    .optional()
    .describe(
      "Slugs of the Cargos that the key may run; others are refused with 403 cargo_not_allowed. Null if it may run all",
    ),
  credits_per_month: z
    .number()
    .min(0)
    .max(MAX_MONTHLY_CREDITS)
    .refine(isAmount, { message: "must have at most 6 decimals" })
    .nullable()
    .optional()
    .describe(
      "Maximum credits that the key's jobs may cost in a calendar month (UTC), charged or held; above it, jobs are refused with 402 key_credits_exceeded. Null for no limit",
    ),
};

const trustField = {
  trust: z
    .enum(TRUSTS)
    .nullable()
    .optional()
    .describe("Trust of the key's jobs that name none in their request; null for `any`"),
};

const nameSchema = z.string().openapi({ maxLength: MAX_NAME }).optional();

type LimitFields = z.infer<z.ZodObject<typeof limitFields>>;

/** A key limited to a misspelt Cargo could run nothing. @throws {ValidationError} naming every unknown Cargo */
async function assertCargosExist({ cargos }: LimitFields, { catalog }: HttpDeps, accountId: string): Promise<void> {
  const found = await Promise.all(
    (cargos ?? []).map(async (slug) => catalog.find(slug, accountId) ?? (await catalog.seek(slug, accountId))),
  );
  const errors = found.flatMap((cargo, index) =>
    cargo === undefined ? [{ path: `cargos.${index}`, message: `there is no Cargo "${cargos?.[index]}"` }] : [],
  );
  if (errors.length > 0) throw new ValidationError(errors);
}

function readLimits({ expires_at: expiresAt, cargos, credits_per_month: credits }: LimitFields): Partial<KeyLimits> {
  return {
    ...(expiresAt === undefined ? {} : { expiresAtMs: expiresAt === null ? null : Date.parse(expiresAt) }),
    ...(cargos === undefined ? {} : { cargos }),
    ...(credits === undefined ? {} : { monthlyMicro: credits === null ? null : microFromCredits(credits) }),
  };
}

const keyFields = {
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  created_at: timeSchema,
};
const newKeySchema = z.object({
  ...keyFields,
  prefix: z.string(),
  expires_at: timeSchema.nullable(),
  cargos: z.array(z.string()).nullable(),
  credits_per_month: creditsSchema.nullable(),
  trust: z.enum(TRUSTS).nullable().describe("Trust of jobs that name none in their request; null for `any`"),
});
const keySchema = newKeySchema
  .extend({
    last_used_at: timeSchema.nullable(),
    credits_this_month: creditsSchema
      .nullable()
      .describe("Credits that the key has spent this month; null for a key without `credits_per_month`"),
  })
  .openapi("ApiKey");

const secretSchema = z.string().describe("Secret (ak_…), which is shown only here");
const createdKeySchema = z
  .object({ data: newKeySchema.extend({ key: secretSchema }), key: secretSchema, ...keyFields })
  .openapi("CreatedApiKey");

/** Presents a key. @param spending Micro-credits spent this month by each key with a monthly limit. */
function presentKey(key: ApiKey, spending: ReadonlyMap<string, number>): z.infer<typeof keySchema> {
  return {
    ...presentNewKey(key),
    last_used_at: presentTimeOrNull(key.lastUsedAtMs),
    credits_this_month: key.monthlyMicro === null ? null : presentCredits(spending.get(key.id) ?? 0),
  };
}

function presentNewKey(key: ApiKey): z.infer<typeof newKeySchema> {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    scopes: [...key.scopes],
    created_at: presentTime(key.createdAtMs),
    expires_at: presentTimeOrNull(key.expiresAtMs),
    cargos: key.cargos && [...key.cargos],
    credits_per_month: key.monthlyMicro === null ? null : presentCredits(key.monthlyMicro),
    trust: key.trust,
  };
}

/** Presents a new key with its secret, in both formats of spec §4. */
function presentCreatedKey(key: ApiKey, secret: string): z.infer<typeof createdKeySchema> {
  const data = presentNewKey(key);
  const { id, name, scopes, created_at } = data;
  return { data: { ...data, key: secret }, key: secret, id, name, scopes, created_at };
}

export const apiKeyRoutes = routeGroup("/api-keys", { tag: "Account" }, (routes, deps) => {
  const { accounts, events } = deps;

  routes.get("", {
    id: "listApiKeys",
    is: "List API keys that are not revoked, newest first",
    access: "read",
    responses: { 200: json(data(z.array(keySchema)), "Keys") },
  })(async ({ identity }) => {
    const keys = await accounts.listKeys(identity.accountId);
    // The spending is read only for an account that has keys with a monthly limit.
    const isCounted = keys.some(({ monthlyMicro }) => monthlyMicro !== null);
    const spending = isCounted ? await accounts.keySpending(identity.accountId) : new Map<string, number>();
    return { data: keys.map((key) => presentKey(key, spending)) };
  });

  routes.post("", {
    id: "createApiKey",
    is: "Create an API key",
    about:
      "An account can have 50 keys; more are refused with 422 too_many_keys. A revoked key counts for one more minute. A key with limits cannot create or change keys, and can revoke only itself.",
    access: "write",
    body: z
      .object({ name: nameSchema, scopes: scopesSchema.optional(), ...limitFields, ...trustField })
      .openapi("CreateApiKey"),
    responses: { 201: json(createdKeySchema, "The key with its secret, which is shown only once") },
  })(async ({ identity, body }) => {
    const scopes = body.scopes ?? [...SCOPES];
    // The caller's key cannot grant scopes that it does not have.
    for (const scope of scopes) requireScope(identity, scope);
    assertMayManageCredentials(identity);
    await assertCargosExist(body, deps, identity.accountId);
    const limits = readLimits(body);
    const { key, secret } = await accounts.createKey(identity.accountId, {
      name: body.name,
      scopes,
      limits,
      trust: body.trust,
    });
    events.noteAccount(identity.accountId);
    return presentCreatedKey(key, secret);
  });

  routes.patch("/{id}", {
    id: "changeApiKey",
    is: "Change the name, the limits and the trust of an API key",
    about:
      "Omitted members do not change; null removes a limit or the trust. Changes apply from the next request on. A new credits_per_month includes what the key's jobs already cost this month.",
    access: "write",
    body: z.object({ name: nameSchema, ...limitFields, ...trustField }).openapi("ChangeApiKey"),
    responses: { 200: json(data(keySchema), "The changed key") },
    fails: [404],
  })(async ({ identity, params, body }) => {
    const { accountId } = identity;
    assertMayManageCredentials(identity);
    await assertCargosExist(body, deps, accountId);
    const change = {
      ...readLimits(body),
      ...(body.trust === undefined ? {} : { trust: body.trust }),
      ...(body.name === undefined ? {} : { name: body.name }),
    };
    const key = await accounts.changeKey(accountId, params.id, change);
    if (key === undefined) throw noKey(params.id);
    events.noteAccount(accountId);
    return { data: presentKey(key, await accounts.keySpending(accountId)) };
  });

  routes.delete("/{id}", {
    id: "revokeApiKey",
    is: "Revoke an API key at once",
    access: "write",
    responses: { 200: json(data(z.object({ id: z.string(), revoked: z.literal(true) })), "Revoked") },
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

function noKey(id: string): ServiceError {
  return new ServiceError("not_found", `There is no API key "${id}". GET ${API_BASE}/api-keys lists yours`);
}
