import type Database from "better-sqlite3";
import type { AccountStore } from "../../account-store.ts";

type NewSignUp = Parameters<AccountStore["createSignUp"]>[0] & { readonly emailKey: string };

export interface SignUpOperations {
  createSignUp(args: NewSignUp): boolean;
  deleteSignUp(args: { tokenHash: string }): void;
}

export function signUpOperations(db: Database.Database): SignUpOperations {
  const removeExpired = db.prepare<[number]>("DELETE FROM sign_ups WHERE expires_at_ms <= ?");
  const upsert = db.prepare<NewSignUp>(
    `INSERT INTO sign_ups (token_hash, email, email_key, expires_at_ms)
     VALUES (@tokenHash, @email, @emailKey, @expiresAtMs)
     ON CONFLICT (email_key) DO UPDATE SET token_hash = excluded.token_hash, email = excluded.email,
       expires_at_ms = excluded.expires_at_ms
     WHERE expires_at_ms <= @keptIfAfterMs`,
  );
  const remove = db.prepare<[string]>("DELETE FROM sign_ups WHERE token_hash = ?");
  return {
    createSignUp(args) {
      removeExpired.run(args.nowMs);
      return upsert.run(args).changes === 1;
    },
    deleteSignUp: ({ tokenHash }) => void remove.run(tokenHash),
  };
}
