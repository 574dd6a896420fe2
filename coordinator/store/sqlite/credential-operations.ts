import type Database from "better-sqlite3";
import type { ApiKey, IslandToken, Session } from "../account-store.ts";

export interface CredentialOperations {
  createKey(args: Omit<ApiKey, "lastUsedAtMs" | "scopes"> & { scopes: string; secretHash: string }): void;
  revokeKey(args: { accountId: string; id: string; atMs: number }): boolean;
  touchKey(args: { id: string; atMs: number }): void;
  createSession(args: Session & { tokenHash: string; createdAtMs: number }): void;
  deleteSession(args: { tokenHash: string }): void;
  createIslandToken(args: IslandToken & { tokenHash: string }): void;
  revokeIslandToken(args: { accountId: string; id: string; atMs: number }): boolean;
}

export function credentialOperations(db: Database.Database): CredentialOperations {
  const insertKey = db.prepare(
    `INSERT INTO api_keys (id, account_id, name, prefix, scopes, secret_hash, created_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const revokeKey = db.prepare<[number, string, string]>(
    "UPDATE api_keys SET revoked_at_ms = ? WHERE id = ? AND account_id = ? AND revoked_at_ms IS NULL",
  );
  const touchKey = db.prepare<{ id: string; atMs: number }>(
    "UPDATE api_keys SET last_used_at_ms = @atMs WHERE id = @id AND coalesce(last_used_at_ms, 0) < @atMs",
  );
  const insertSession = db.prepare(
    "INSERT INTO sessions (token_hash, account_id, created_at_ms, expires_at_ms) VALUES (?, ?, ?, ?)",
  );
  const deleteSession = db.prepare<[string]>("DELETE FROM sessions WHERE token_hash = ?");
  const insertToken = db.prepare(
    "INSERT INTO island_tokens (id, account_id, name, token_hash, created_at_ms) VALUES (?, ?, ?, ?, ?)",
  );
  const revokeToken = db.prepare<[number, string, string]>(
    "UPDATE island_tokens SET revoked_at_ms = ? WHERE id = ? AND account_id = ? AND revoked_at_ms IS NULL",
  );
  return {
    createKey({ id, accountId, name, prefix, scopes, secretHash, createdAtMs }) {
      insertKey.run(id, accountId, name, prefix, scopes, secretHash, createdAtMs);
    },
    revokeKey: ({ accountId, id, atMs }) => revokeKey.run(atMs, id, accountId).changes === 1,
    touchKey: (args) => void touchKey.run(args),
    createSession({ tokenHash, accountId, createdAtMs, expiresAtMs }) {
      insertSession.run(tokenHash, accountId, createdAtMs, expiresAtMs);
    },
    deleteSession: ({ tokenHash }) => void deleteSession.run(tokenHash),
    createIslandToken({ id, accountId, name, tokenHash, createdAtMs }) {
      insertToken.run(id, accountId, name, tokenHash, createdAtMs);
    },
    revokeIslandToken: ({ accountId, id, atMs }) => revokeToken.run(atMs, id, accountId).changes === 1,
  };
}
