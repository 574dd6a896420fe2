import { z } from "@hono/zod-openapi";
import { MAX_NAME } from "../../accounts/credential-fields.ts";
import { MAX_KEY_CARGOS, MAX_SLUG } from "../../accounts/api-keys.ts";
import { microFromCredits } from "../../credits/micro-credits.ts";
import { SCOPES, type ApiKey } from "../../store/accounts/credentials.ts";
import type { KeyLimits } from "../../store/accounts/key-spending.ts";
import { creditsSchema, presentCredits, presentTime, presentTimeOrNull, timeSchema } from "./wire-units.ts";

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
  .describe("Comma-separated list or array of read and write");

const MAX_MONTHLY_CREDITS = 4_000_000_000;

const isAmount = (credits: number): boolean => {
  try {
    return microFromCredits(credits) >= 0;
  } catch {
    return false;
  }
};

/** `null`: no limit. */
const limitFields = {
  expires_at: z.iso.datetime().nullable().optional().describe("When the key expires (401 key_expired); null: never"),
  cargos: z
    .array(z.string().min(1).max(MAX_SLUG))
    .min(1)
    .max(MAX_KEY_CARGOS)
    .nullable()
    .optional()
    .describe("Slugs of the Cargos that the key may run (others: 403 cargo_not_allowed); null: all"),
  credits_per_month: z
    .number()
    .min(0)
    .max(MAX_MONTHLY_CREDITS)
    .refine(isAmount, { message: "has more than 6 decimals" })
    .nullable()
    .optional()
    .describe(
      "Maximum cost of its jobs in a calendar month (UTC), charged or held (beyond: 402 key_credits_exceeded); null: unlimited",
    ),
};

const nameSchema = z.string().openapi({ maxLength: MAX_NAME });

export const createKeyBody = z
  .object({ name: nameSchema.optional(), scopes: scopesSchema.optional(), ...limitFields })
  .openapi("CreateApiKey");

export const changeKeyBody = z.object({ name: nameSchema.optional(), ...limitFields }).openapi("ChangeApiKey");

/** The limits that a body has; absent ones stay. */
export function limitsOf(body: z.infer<z.ZodObject<typeof limitFields>>): Partial<KeyLimits> {
  const { expires_at: expiresAt, cargos, credits_per_month: credits } = body;
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
});
export const keySchema = newKeySchema
  .extend({
    last_used_at: timeSchema.nullable(),
    credits_this_month: creditsSchema
      .nullable()
      .describe("Spent this month by a key with credits_per_month; null for other keys"),
  })
  .openapi("ApiKey");

const secretSchema = z.string().describe("The secret, shown only here");
export const createdKeySchema = z
  .object({ data: newKeySchema.extend({ key: secretSchema }), key: secretSchema, ...keyFields })
  .openapi("CreatedApiKey");

/** `spending`: of the account's keys with a monthly limit, in micro-credits. */
export function presentKey(key: ApiKey, spending: ReadonlyMap<string, number>): z.infer<typeof keySchema> {
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
  };
}

/** Both shapes of spec §4 in one body, and the secret also where clients of the first shape look for it. */
export function presentCreatedKey(key: ApiKey, secret: string): z.infer<typeof createdKeySchema> {
  const data = presentNewKey(key);
  const { id, name, scopes, created_at } = data;
  return { data: { ...data, key: secret }, key: secret, id, name, scopes, created_at };
}
