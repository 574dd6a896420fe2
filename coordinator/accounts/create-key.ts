import { newId } from "../../shared/ids.ts";
import { WINDOW_MS } from "../quotas/request-window.ts";
import type { AccountStore } from "../store/accounts/accounts.ts";
import type { ApiKey } from "../store/accounts/credentials.ts";
import { NO_KEY_LIMITS, type KeyLimits } from "../store/accounts/key-spending.ts";
import { readName, readScopes } from "./credential-fields.ts";
import { readKeyLimits } from "./key-limits.ts";
import { hashSecret, newSecret, secretPrefix } from "./secrets.ts";

/** Per account. */
const MAX_KEYS = 50;

export interface KeyWish {
  readonly name?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  /** None unless told. */
  readonly limits?: Partial<KeyLimits> | undefined;
}

/** Makes an API key; `secret` is returned this once. @throws {ServiceError} `too_many_keys`; {@link ValidationError} */
export async function createKey(
  store: Pick<AccountStore, "createKey">,
  nowMs: number,
  accountId: string,
  wish: KeyWish,
): Promise<{ key: ApiKey; secret: string }> {
  const secret = newSecret("ak");
  const key = {
    id: newId("key", nowMs),
    accountId,
    name: readName(wish.name, "API key"),
    prefix: secretPrefix(secret),
    scopes: readScopes(wish.scopes),
    createdAtMs: nowMs,
    ...NO_KEY_LIMITS,
    ...readKeyLimits(wish.limits ?? {}, nowMs),
  };
  const cap = { maxKeys: MAX_KEYS, revokedAfterMs: nowMs - WINDOW_MS };
  const number = await store.createKey({ ...key, secretHash: hashSecret(secret) }, cap);
  return { key: { ...key, number, lastUsedAtMs: null }, secret };
}
