import type Database from "better-sqlite3";
import type { AccountStore } from "../../account-store.ts";

type ArgsOf<K extends "setPassword" | "createReset" | "useReset"> = Parameters<AccountStore[K]>[0];

export interface PasswordOperations {
  setPassword(args: ArgsOf<"setPassword">): boolean;
  createReset(args: ArgsOf<"createReset">): boolean;
  useReset(args: ArgsOf<"useReset">): boolean;
  deleteAccount(args: { accountId: string; atMs: number }): boolean;
}

export function passwordOperations(db: Database.Database): PasswordOperations {
  const setPassword = prepareSetPassword(db);
  const insertReset = db.prepare<ArgsOf<"createReset">>(
    `INSERT INTO password_resets (token_hash, account_id, expires_at_ms)
     SELECT @tokenHash, @accountId, @expiresAtMs
     WHERE (SELECT count(*) FROM password_resets WHERE account_id = @accountId AND expires_at_ms > @nowMs) < @maxResets`,
  );
  const findReset = db
    .prepare<[string, number], string>(
      "SELECT account_id FROM password_resets WHERE token_hash = ? AND expires_at_ms > ?",
    )
    .pluck();
  return {
    setPassword,
    createReset: (args) => insertReset.run(args).changes === 1,
    useReset({ tokenHash, passwordHash, nowMs }) {
      const accountId = findReset.get(tokenHash, nowMs);
      return accountId !== undefined && setPassword({ accountId, passwordHash, keptTokenHash: null });
    },
    deleteAccount: prepareDelete(db),
  };
}

function prepareSetPassword(db: Database.Database): PasswordOperations["setPassword"] {
  const update = db.prepare<[string, string]>(
    "UPDATE accounts SET password_hash = ? WHERE id = ? AND deleted_at_ms IS NULL",
  );
  const endSessions = db.prepare<[string, string]>("DELETE FROM sessions WHERE account_id = ? AND token_hash <> ?");
  const voids = ["password_resets", "email_changes"].map((table) =>
    db.prepare<[string]>(`DELETE FROM ${table} WHERE account_id = ?`),
  );
  return ({ accountId, passwordHash, keptTokenHash }) => {
    if (update.run(passwordHash, accountId).changes === 0) return false;
    endSessions.run(accountId, keptTokenHash ?? "");
    for (const deletion of voids) deletion.run(accountId);
    return true;
  };
}

function prepareDelete(db: Database.Database): PasswordOperations["deleteAccount"] {
  // The key of the address must be unique, and an id is no address.
  const blank = db.prepare<[number, string]>(
    `UPDATE accounts SET email = '', email_key = id, password_hash = '', deleted_at_ms = ?, role = 'user',
       suspended_at_ms = NULL, suspended_because = NULL
     WHERE id = ? AND deleted_at_ms IS NULL`,
  );
  const credentials = [
    "api_keys",
    "sessions",
    "island_tokens",
    "pairing_codes",
    "password_resets",
    "email_changes",
  ].map((table) => db.prepare<[string]>(`DELETE FROM ${table} WHERE account_id = ?`));
  const begin = db.prepare<[string, number]>(
    "INSERT INTO removals (kind, id, at_ms) VALUES ('account', ?, ?) ON CONFLICT DO NOTHING",
  );
  return ({ accountId, atMs }) => {
    if (blank.run(atMs, accountId).changes === 0) return false;
    for (const deletion of credentials) deletion.run(accountId);
    begin.run(accountId, atMs);
    return true;
  };
}
