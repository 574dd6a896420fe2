import { ServiceError, ValidationError, type FieldError } from "../../shared/errors.ts";
import { newId } from "../../shared/ids.ts";
import type { Trust } from "../credits/trust.ts";
import { WINDOW_MS } from "../quotas/request-window.ts";
import type { AccountStore } from "../store/accounts/accounts.ts";
import type { ApiKey, KeyChange } from "../store/accounts/credentials.ts";
import { NO_KEY_LIMITS, type KeyLimits } from "../store/accounts/key-spending.ts";
import { readName, readScopes } from "./credential-fields.ts";
import type { Identity } from "./identity.ts";
import { hashSecret, newSecret, secretPrefix } from "./secrets.ts";

const MAX_KEYS = 50;
const DEFAULT_NAME = "API key";
export const MAX_KEY_CARGOS = 100;
export const MAX_SLUG = 200;
/** Maximum time until a key expires: ten years. */
const MAX_LIFETIME_MS = 10 * 366 * 24 * 3_600_000;

export interface CreateKeyParams {
  readonly name?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly limits?: Partial<KeyLimits> | undefined;
  readonly trust?: Trust | null | undefined;
}

/**
 * Creates an API key. A revoked key counts towards the limit for another minute, as long as its requests count;
 * otherwise an account could evade its rate limit with new keys.
 * @throws {ServiceError} `too_many_keys` if the account has 50 keys; {@link ValidationError}
 */
export async function createKey(
  store: AccountStore,
  nowMs: number,
  accountId: string,
  params: CreateKeyParams,
): Promise<{ key: ApiKey; secret: string }> {
  const secret = newSecret("ak");
  const key = {
    id: newId("key", nowMs),
    accountId,
    name: readName(params.name, DEFAULT_NAME),
    prefix: secretPrefix(secret),
    scopes: readScopes(params.scopes),
    createdAtMs: nowMs,
    trust: params.trust ?? null,
    ...NO_KEY_LIMITS,
    ...readKeyLimits(params.limits ?? {}, nowMs),
  };
  const cap = { maxKeys: MAX_KEYS, revokedAfterMs: nowMs - WINDOW_MS };
  const number = await store.createKey({ ...key, secretHash: hashSecret(secret) }, cap);
  return { key: { ...key, number, lastUsedAtMs: null }, secret };
}

/** Checks limits and removes duplicate `cargos`. @throws {ValidationError} with the API name of each invalid field */
function readKeyLimits(limits: Partial<KeyLimits>, nowMs: number): Partial<KeyLimits> {
  const { expiresAtMs, cargos } = limits;
  const errors: FieldError[] = [];
  if (expiresAtMs != null && !(expiresAtMs > nowMs && expiresAtMs <= nowMs + MAX_LIFETIME_MS)) {
    errors.push({ path: "expires_at", message: "must be in the future, at most ten years ahead" });
  }
  const slugs = cargos && [...new Set(cargos)];
  if (slugs != null && (slugs.length === 0 || slugs.length > MAX_KEY_CARGOS)) {
    errors.push({ path: "cargos", message: `must list 1 to ${MAX_KEY_CARGOS} Cargos, or be null for all` });
  }
  if (errors.length > 0) throw new ValidationError(errors);
  return slugs == null ? limits : { ...limits, cargos: slugs };
}

/** Checks a change of a key. @throws {ValidationError} */
export function readKeyChange({ name, trust, ...limits }: KeyChange, nowMs: number): KeyChange {
  return {
    ...readKeyLimits(limits, nowMs),
    ...(trust === undefined ? {} : { trust }),
    ...(name === undefined ? {} : { name: readName(name, DEFAULT_NAME) }),
  };
}

/**
 * Refuses a caller with a limited API key, which could create credentials that outlive the key or lack its limits, or
 * revoke other keys. A key may always revoke itself (`revokedId`).
 * @throws {ServiceError} `insufficient_scope`
 */
export function assertMayManageCredentials(identity: Identity, revokedId?: string): void {
  if (identity.kind !== "key" || identity.keyLimits === undefined || identity.keyId === revokedId) return;
  const actions = "create, change or revoke keys, Island tokens or pairing codes";
  throw new ServiceError("insufficient_scope", `An API key with limits cannot ${actions}; use a session`);
}
