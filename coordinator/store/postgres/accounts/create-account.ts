import { partiesOf } from "../../../credits/postings.ts";
import type { Account, AccountStore } from "../../account-store.ts";
import { REFUSALS } from "../../refusals.ts";
import type { Session } from "../engine/connection.ts";
import { post } from "../ledger/post.ts";
import { emailKey } from "./key-rows.ts";

export type NewAccount = Parameters<AccountStore["create"]>[0];

/** An {@link Account}. */
export const ACCOUNT = `SELECT accounts.id, email, created_at_ms AS "createdAtMs", balances.micro AS "balanceMicro", role
  FROM accounts JOIN balances ON balances.party = 'client:' || accounts.id`;

/** In a transaction. @throws {ServiceError} `email_taken` */
export async function createAccount(session: Session, account: NewAccount): Promise<Account> {
  const { id, email, passwordHash, postings, createdAtMs } = account;
  const inserted = await session.run(
    `INSERT INTO accounts (id, email, email_key, password_hash, created_at_ms) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (email_key) DO NOTHING`,
    [id, email, emailKey(email), passwordHash, createdAtMs],
  );
  if (inserted === 0) throw REFUSALS.email_taken();
  for (const party of partiesOf(id)) {
    // oxlint-disable-next-line no-await-in-loop -- Two.
    await session.run("INSERT INTO balances (party, micro) VALUES ($1, 0)", [party]);
  }
  await post(session, postings, createdAtMs);
  const created = await session.one<Account>(`${ACCOUNT} WHERE accounts.id = $1`, [id]);
  if (created === undefined) throw new Error(`The account ${id} is missing from the database`);
  return created;
}
