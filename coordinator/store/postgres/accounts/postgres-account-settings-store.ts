import type { AccountSettingsStore, EmailChange, KeyChange, SessionRecord } from "../../account-settings-store.ts";
import type { ApiKey } from "../../account-store.ts";
import { utcDayOf } from "../../host-figures.ts";
import { monthBeginMs, utcMonthOf } from "../../key-spending.ts";
import { REFUSALS } from "../../refusals.ts";
import type { Session } from "../engine/connection.ts";
import type { Database } from "../engine/database.ts";
import { textToColumn } from "../engine/text.ts";
import { lockBalances } from "../ledger/post.ts";
import { numberNames } from "../../tx.ts";
import { allUsage } from "../../usage.ts";
import { emailKey, KEY, keyOf, type KeyRow } from "./key-rows.ts";
import { lockAccount } from "./lock-account.ts";

export class PostgresAccountSettingsStore implements AccountSettingsStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  setEmail(accountId: string, email: string): Promise<boolean> {
    return this.#db.transact(async (session) => {
      const key = emailKey(email);
      const holder = await session.one<{ id: string }>("SELECT id FROM accounts WHERE email_key = $1", [key]);
      if (holder !== undefined && holder.id !== accountId) throw REFUSALS.email_taken();
      const set = await session
        .run("UPDATE accounts SET email = $1, email_key = $2 WHERE id = $3 AND deleted_at_ms IS NULL", [
          email,
          key,
          accountId,
        ])
        .catch((error: unknown) => {
          // Another account has got it since.
          throw isUniqueViolation(error) ? REFUSALS.email_taken() : error;
        });
      if (set === 0) return false;
      await session.run("DELETE FROM password_resets WHERE account_id = $1", [accountId]);
      await session.run("DELETE FROM email_changes WHERE account_id = $1", [accountId]);
      return true;
    });
  }

  async createEmailChange({ accountId, tokenHash, email, expiresAtMs }: EmailChange): Promise<void> {
    await this.#db.use((session) =>
      session.run(
        `INSERT INTO email_changes (account_id, token_hash, email, expires_at_ms) VALUES ($1, $2, $3, $4)
         ON CONFLICT (account_id) DO UPDATE SET token_hash = excluded.token_hash, email = excluded.email,
           expires_at_ms = excluded.expires_at_ms`,
        [accountId, tokenHash, email, expiresAtMs],
      ),
    );
  }

  findEmailChange(tokenHash: string, nowMs: number): ReturnType<AccountSettingsStore["findEmailChange"]> {
    const sql = `SELECT account_id AS "accountId", email FROM email_changes WHERE token_hash = $1 AND expires_at_ms > $2`;
    return this.#db.use((session) => session.one(sql, [tokenHash, nowMs]));
  }

  listSessions(accountId: string, nowMs: number): Promise<SessionRecord[]> {
    return this.#db.use((session) =>
      session.all<SessionRecord>(
        `SELECT token_hash AS "tokenHash", account_id AS "accountId", created_at_ms AS "createdAtMs",
           expires_at_ms AS "expiresAtMs", last_used_at_ms AS "lastUsedAtMs"
         FROM sessions WHERE account_id = $1 AND expires_at_ms > $2 ORDER BY created_at_ms DESC, token_hash`,
        [accountId, nowMs],
      ),
    );
  }

  async touchSession(tokenHash: string, atMs: number): Promise<void> {
    const sql = "UPDATE sessions SET last_used_at_ms = $1 WHERE token_hash = $2 AND coalesce(last_used_at_ms, 0) < $1";
    await this.#db.use((session) => session.run(sql, [atMs, tokenHash]));
  }

  changeKey(accountId: string, keyId: string, change: KeyChange, nowMs: number): Promise<ApiKey | undefined> {
    return this.#db.transact(async (session) => {
      await lockAccount(session, accountId);
      // Until the end of the transaction no job of the account is stored or ends.
      await lockBalances(session, [`client:${accountId}`]);
      const where = "WHERE id = $1 AND account_id = $2 AND revoked_at_ms IS NULL";
      const row = await session.one<KeyRow>(`${KEY} ${where}`, [keyId, accountId]);
      if (row === undefined) return undefined;
      const known = keyOf(row);
      const changed = { ...known, ...change };
      const { name, expiresAtMs, cargos, monthlyMicro } = changed;
      await session.run(`UPDATE api_keys SET name = $3, expires_at_ms = $4, cargos = $5, monthly_micro = $6 ${where}`, [
        keyId,
        accountId,
        textToColumn(name),
        expiresAtMs,
        cargos && JSON.stringify(cargos),
        monthlyMicro,
      ]);
      if (known.monthlyMicro === null && monthlyMicro !== null) await recount(session, known, nowMs);
      return changed;
    });
  }

  async keySpending(accountId: string, month: number): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#db.use((session) =>
      session.all<{ id: string; micro: number }>(
        `SELECT id, micro FROM api_keys JOIN key_spending ON key_number = number
         WHERE account_id = $1 AND monthly_micro IS NOT NULL AND month = $2`,
        [accountId, month],
      ),
    );
    return new Map(rows.map(({ id, micro }) => [id, micro]));
  }
}

const UNIQUE_VIOLATION = "23505";

function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === UNIQUE_VIOLATION;
}

/** Counts what a key has spent in this month when it gets a limit. From then on its jobs are counted as they are stored and end. */
async function recount(session: Session, { id, number, accountId }: ApiKey, nowMs: number): Promise<void> {
  const month = utcMonthOf(nowMs);
  const [fromDay, toDay] = [utcDayOf(monthBeginMs(month)), utcDayOf(monthBeginMs(month + 1)) - 1];
  await session.run(
    `INSERT INTO key_spending (key_number, month, micro) SELECT $6, $5,
       (SELECT coalesce(sum(micro), 0) FROM (${numberNames(allUsage({ dialect: "postgres" })).text}) AS usage WHERE kind = 'spent' AND key_id = $4)
       + (SELECT coalesce(sum(price_micro), 0) FROM jobs WHERE account_id = $1 AND completed_at_ms IS NULL AND key_number = $6)
     ON CONFLICT (key_number) DO UPDATE SET month = excluded.month, micro = excluded.micro`,
    [accountId, fromDay, toDay, id, month, number],
  );
  await session.run(
    "UPDATE jobs SET key_month = $3 WHERE account_id = $1 AND completed_at_ms IS NULL AND key_number = $2",
    [accountId, number, month],
  );
}
