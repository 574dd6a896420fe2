import type Database from "better-sqlite3";
import { ServiceError } from "../../../shared/errors.ts";
import type { Ledger } from "./ledger.ts";
import { postGrant } from "./ledger-operations.ts";

export interface AccountOperations {
  createAccount(args: {
    id: string;
    email: string;
    emailKey: string;
    passwordHash: string;
    grantMicro: number;
    createdAtMs: number;
  }): void;
}

export function accountOperations(db: Database.Database, ledger: Ledger): AccountOperations {
  const findEmail = db.prepare<[string], number>("SELECT 1 FROM accounts WHERE email_key = ?").pluck();
  const insert = db.prepare<[string, string, string, string, number]>(
    "INSERT INTO accounts (id, email, email_key, password_hash, created_at_ms) VALUES (?, ?, ?, ?, ?)",
  );
  return {
    createAccount({ id, email, emailKey, passwordHash, grantMicro, createdAtMs }) {
      if (findEmail.get(emailKey) !== undefined) {
        throw new ServiceError("email_taken", "There is an account with this e-mail address");
      }
      insert.run(id, email, emailKey, passwordHash, createdAtMs);
      ledger.open(`client:${id}`);
      ledger.open(`hold:${id}`);
      postGrant(ledger, id, grantMicro, createdAtMs);
    },
  };
}
