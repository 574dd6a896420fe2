import type Database from "better-sqlite3";
import type { ApiKey, KeyCap, Session } from "../../account-store.ts";
import { REFUSALS } from "../../refusals.ts";

type NewKey = Omit<ApiKey, "number" | "lastUsedAtMs" | "scopes" | "cargos"> & {
  scopes: string;
  /** JSON text. */
  cargos: string | null;
  secretHash: string;
};
type NewSession = Session & { tokenHash: string; createdAtMs: number };

export interface CredentialOperations {
  /** Returns its number. */
  createKey(args: NewKey & KeyCap): number;
  revokeKey(args: { accountId: string; id: string; atMs: number }): boolean;
  touchKey(args: { id: string; atMs: number }): void;
  createSession(args: NewSession & { maxSessions: number }): void;
  deleteSession(args: { tokenHash: string }): void;
}

export function credentialOperations(db: Database.Database): CredentialOperations {
  const insertKey = db.prepare<NewKey & KeyCap>(
    `INSERT INTO api_keys (id, account_id, name, prefix, scopes, secret_hash, created_at_ms, expires_at_ms, cargos, monthly_micro)
     SELECT @id, @accountId, @name, @prefix, @scopes, @secretHash, @createdAtMs, @expiresAtMs, @cargos, @monthlyMicro
     WHERE (SELECT count(*) FROM api_keys WHERE account_id = @accountId AND revoked_at_ms IS NULL)
         + (SELECT count(*) FROM api_keys WHERE account_id = @accountId AND revoked_at_ms > @revokedAfterMs) < @maxKeys`,
  );
  const selectNumber = db.prepare<[string], number>("SELECT number FROM api_keys WHERE id = ?").pluck();
  const revokeKey = db.prepare<[number, string, string]>(
    "UPDATE api_keys SET revoked_at_ms = ? WHERE id = ? AND account_id = ? AND revoked_at_ms IS NULL",
  );
  const touchKey = db.prepare<{ id: string; atMs: number }>(
    "UPDATE api_keys SET last_used_at_ms = @atMs WHERE id = @id AND coalesce(last_used_at_ms, 0) < @atMs",
  );
  const insertSession = db.prepare<NewSession>(
    `INSERT INTO sessions (token_hash, account_id, created_at_ms, expires_at_ms)
     VALUES (@tokenHash, @accountId, @createdAtMs, @expiresAtMs)`,
  );
  const endOldest = db.prepare<{ accountId: string; tokenHash: string; kept: number }>(
    `DELETE FROM sessions WHERE token_hash IN (
       SELECT token_hash FROM sessions WHERE account_id = @accountId AND token_hash <> @tokenHash
       ORDER BY created_at_ms DESC LIMIT -1 OFFSET @kept)`,
  );
  const deleteSession = db.prepare<[string]>("DELETE FROM sessions WHERE token_hash = ?");
  return {
    createKey(args) {
      if (insertKey.run(args).changes === 1) return selectNumber.get(args.id) ?? 0;
      throw REFUSALS.too_many_keys(args.maxKeys);
    },
    revokeKey: ({ accountId, id, atMs }) => revokeKey.run(atMs, id, accountId).changes === 1,
    touchKey: (args) => void touchKey.run(args),
    createSession({ maxSessions, ...session }) {
      insertSession.run(session);
      endOldest.run({ accountId: session.accountId, tokenHash: session.tokenHash, kept: maxSessions - 1 });
    },
    deleteSession: ({ tokenHash }) => void deleteSession.run(tokenHash),
  };
}
