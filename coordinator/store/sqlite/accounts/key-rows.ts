import type { ApiKey, Scope } from "../../account-store.ts";

export const KEY_COLUMNS = `id, number, account_id AS accountId, name, prefix, scopes, created_at_ms AS createdAtMs,
  last_used_at_ms AS lastUsedAtMs, expires_at_ms AS expiresAtMs, cargos, monthly_micro AS monthlyMicro` as const;

/** A row of KEY_COLUMNS. */
export type KeyRow = Omit<ApiKey, "scopes" | "cargos"> & { readonly scopes: string; readonly cargos: string | null };

export function keyOf({ scopes, cargos, ...row }: KeyRow): ApiKey {
  const slugs = cargos === null ? null : (JSON.parse(cargos) as string[]);
  return { ...row, scopes: scopes.split(",") as Scope[], cargos: slugs };
}

/** Two addresses with the same key are the same account. */
export function emailKey(email: string): string {
  return email.toLowerCase();
}
