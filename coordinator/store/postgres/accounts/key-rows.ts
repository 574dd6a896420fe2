import type { ApiKey, Scope } from "../../account-store.ts";
import { textFromColumn } from "../engine/text.ts";

export const KEY = `SELECT id, number, account_id AS "accountId", name, prefix, scopes, created_at_ms AS "createdAtMs",
  last_used_at_ms AS "lastUsedAtMs", expires_at_ms AS "expiresAtMs", cargos, monthly_micro AS "monthlyMicro" FROM api_keys` as const;

/** A row of KEY. */
export type KeyRow = Omit<ApiKey, "scopes" | "cargos"> & { readonly scopes: string; readonly cargos: string | null };

export function keyOf({ name, scopes, cargos, ...row }: KeyRow): ApiKey {
  const slugs = cargos === null ? null : (JSON.parse(cargos) as string[]);
  return { ...row, name: textFromColumn(name), scopes: scopes.split(",") as Scope[], cargos: slugs };
}

/** Two addresses with the same key are the same account. */
export function emailKey(email: string): string {
  return email.toLowerCase();
}
