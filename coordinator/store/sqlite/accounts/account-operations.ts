import type Database from "better-sqlite3";
import { partiesOf, type Posting } from "../../../credits/postings.ts";
import type { AccountLimits } from "../../account-store.ts";
import { REFUSALS } from "../../refusals.ts";
import type { Ledger } from "../ledger/ledger.ts";

export interface AccountOperations {
  createAccount(args: {
    id: string;
    email: string;
    emailKey: string;
    passwordHash: string;
    postings: readonly Posting[];
    createdAtMs: number;
  }): void;
  setLimits(args: { accountId: string; limits: Partial<AccountLimits> }): AccountLimits;
}

/** The columns of {@link AccountLimits}. */
export const LIMIT_COLUMNS =
  "requests_per_minute AS requestsPerMinute, concurrent_jobs AS concurrentJobs, concurrent_streams AS concurrentStreams, share" as const;

export function accountOperations(db: Database.Database, ledger: Ledger): AccountOperations {
  const findEmail = db.prepare<[string], number>("SELECT 1 FROM accounts WHERE email_key = ?").pluck();
  const insert = db.prepare<[string, string, string, string, number]>(
    "INSERT INTO accounts (id, email, email_key, password_hash, created_at_ms) VALUES (?, ?, ?, ?, ?)",
  );
  const selectLimits = db.prepare<[string], AccountLimits>(`SELECT ${LIMIT_COLUMNS} FROM accounts WHERE id = ?`);
  const updateLimits = db.prepare<AccountLimits & { accountId: string }>(
    `UPDATE accounts SET requests_per_minute = @requestsPerMinute, concurrent_jobs = @concurrentJobs,
       concurrent_streams = @concurrentStreams, share = @share WHERE id = @accountId`,
  );
  return {
    createAccount({ id, email, emailKey, passwordHash, postings, createdAtMs }) {
      if (findEmail.get(emailKey) !== undefined) {
        throw REFUSALS.email_taken();
      }
      const parties = partiesOf(id);
      ledger.assertAccepts(postings, parties);
      insert.run(id, email, emailKey, passwordHash, createdAtMs);
      for (const party of parties) ledger.open(party);
      ledger.post(postings, null, createdAtMs);
    },
    setLimits({ accountId, limits }) {
      const known = selectLimits.get(accountId);
      if (known === undefined) throw REFUSALS.no_account();
      const changed = { ...known, ...limits };
      updateLimits.run({ ...changed, accountId });
      return changed;
    },
  };
}
