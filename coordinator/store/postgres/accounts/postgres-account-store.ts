import type {
  Account,
  AccountLimits,
  AccountStanding,
  AccountStore,
  ApiKey,
  IslandToken,
  Session as SignIn,
} from "../../account-store.ts";
import { REFUSALS } from "../../refusals.ts";
import type { Transactions } from "../engine/database.ts";
import { textFromColumn, textToColumn } from "../engine/text.ts";
import { ACCOUNT, createAccount, type NewAccount } from "./create-account.ts";
import { emailKey, KEY, keyOf, type KeyRow } from "./key-rows.ts";
import * as tokens from "./island-tokens.ts";
import { lockAccount } from "./lock-account.ts";
import { setPassword } from "./set-password.ts";
import { readStanding } from "./standing.ts";

const LIMITS = `SELECT requests_per_minute AS "requestsPerMinute", concurrent_jobs AS "concurrentJobs",
  concurrent_streams AS "concurrentStreams", share FROM accounts WHERE id = $1`;

export class PostgresAccountStore implements AccountStore {
  readonly #db: Transactions;

  constructor(db: Transactions) {
    this.#db = db;
  }

  create(account: NewAccount): Promise<Account> {
    return this.#db.transact((session) => createAccount(session, account));
  }

  get(accountId: string): Promise<Account | undefined> {
    return this.#one(`${ACCOUNT} WHERE accounts.id = $1 AND deleted_at_ms IS NULL`, [accountId]);
  }

  async getByEmail(email: string): Promise<Account | undefined> {
    // Of no account, and PostgreSQL does not take it.
    if (email.includes("\0")) return undefined;
    return this.#one(`${ACCOUNT} WHERE email_key = $1`, [emailKey(email)]);
  }

  async passwordHash(accountId: string): Promise<string | undefined> {
    return (await this.#one<{ hash: string }>("SELECT password_hash AS hash FROM accounts WHERE id = $1", [accountId]))
      ?.hash;
  }

  setPassword(change: Parameters<AccountStore["setPassword"]>[0]): Promise<boolean> {
    return this.#db.transact((session) => setPassword(session, change));
  }

  createReset(reset: Parameters<AccountStore["createReset"]>[0]): Promise<boolean> {
    const { tokenHash, accountId, expiresAtMs, nowMs, maxResets } = reset;
    return this.#db.transact(async (session) => {
      await lockAccount(session, accountId);
      const inserted = await session.run(
        `INSERT INTO password_resets (token_hash, account_id, expires_at_ms) SELECT $1, $2, $3
         WHERE (SELECT count(*) FROM password_resets WHERE account_id = $2 AND expires_at_ms > $4) < $5`,
        [tokenHash, accountId, expiresAtMs, nowMs, maxResets],
      );
      return inserted === 1;
    });
  }

  async findReset(tokenHash: string, nowMs: number): Promise<string | undefined> {
    return (await this.#one<{ id: string }>(RESET, [tokenHash, nowMs]))?.id;
  }

  useReset({ tokenHash, passwordHash, nowMs }: Parameters<AccountStore["useReset"]>[0]): Promise<boolean> {
    return this.#db.transact(async (session) => {
      const found = await session.one<{ id: string }>(`${RESET} FOR UPDATE`, [tokenHash, nowMs]);
      return found !== undefined && setPassword(session, { accountId: found.id, passwordHash, keptTokenHash: null });
    });
  }

  delete(accountId: string, atMs: number): Promise<boolean> {
    return this.#db.transact(async (session) => {
      // The key of the address must be unique, and an id is no address.
      const blanked = await session.run(
        `UPDATE accounts SET email = '', email_key = id, password_hash = '', deleted_at_ms = $1,
           role = 'user', suspended_at_ms = NULL, suspended_because = NULL
         WHERE id = $2 AND deleted_at_ms IS NULL`,
        [atMs, accountId],
      );
      if (blanked === 0) return false;
      for (const table of [
        "api_keys",
        "sessions",
        "island_tokens",
        "pairing_codes",
        "password_resets",
        "email_changes",
      ]) {
        // oxlint-disable-next-line no-await-in-loop -- Six.
        await session.run(`DELETE FROM ${table} WHERE account_id = $1`, [accountId]);
      }
      await session.run("INSERT INTO removals (kind, id, at_ms) VALUES ('account', $1, $2) ON CONFLICT DO NOTHING", [
        accountId,
        atMs,
      ]);
      return true;
    });
  }

  createSignUp(signUp: Parameters<AccountStore["createSignUp"]>[0]): Promise<boolean> {
    const { tokenHash, email, expiresAtMs, nowMs, keptIfAfterMs } = signUp;
    return this.#db.transact(async (session) => {
      await session.run("DELETE FROM sign_ups WHERE expires_at_ms <= $1", [nowMs]);
      const stored = await session.run(
        `INSERT INTO sign_ups (token_hash, email, email_key, expires_at_ms) VALUES ($1, $2, $3, $4)
         ON CONFLICT (email_key) DO UPDATE SET token_hash = excluded.token_hash, email = excluded.email,
           expires_at_ms = excluded.expires_at_ms
         WHERE sign_ups.expires_at_ms <= $5`,
        [tokenHash, email, emailKey(email), expiresAtMs, keptIfAfterMs],
      );
      return stored === 1;
    });
  }

  async findSignUp(tokenHash: string, nowMs: number): Promise<string | undefined> {
    const sql = "SELECT email FROM sign_ups WHERE token_hash = $1 AND expires_at_ms > $2";
    return (await this.#one<{ email: string }>(sql, [tokenHash, nowMs]))?.email;
  }

  async deleteSignUp(tokenHash: string): Promise<void> {
    await this.#run("DELETE FROM sign_ups WHERE token_hash = $1", [tokenHash]);
  }

  standing(accountId: string): Promise<AccountStanding | undefined> {
    return this.#db.use((session) => readStanding(session, accountId));
  }

  limits(accountId: string): Promise<AccountLimits | undefined> {
    return this.#one(LIMITS, [accountId]);
  }

  setLimits(accountId: string, limits: Partial<AccountLimits>): Promise<AccountLimits> {
    return this.#db.transact(async (session) => {
      const known = await session.one<AccountLimits>(`${LIMITS} FOR UPDATE`, [accountId]);
      if (known === undefined) throw REFUSALS.no_account();
      const changed = { ...known, ...limits };
      await session.run(
        `UPDATE accounts SET requests_per_minute = $1, concurrent_jobs = $2, concurrent_streams = $3, share = $4 WHERE id = $5`,
        [changed.requestsPerMinute, changed.concurrentJobs, changed.concurrentStreams, changed.share, accountId],
      );
      return changed;
    });
  }

  createKey(...[key, { maxKeys, revokedAfterMs }]: Parameters<AccountStore["createKey"]>): Promise<number> {
    const { id, accountId, name, prefix, scopes, secretHash, createdAtMs } = key;
    const { expiresAtMs = null, cargos = null, monthlyMicro = null } = key;
    return this.#db.transact(async (session) => {
      await lockAccount(session, accountId);
      const inserted = await session.one<{ number: number }>(
        `INSERT INTO api_keys (id, account_id, name, prefix, scopes, secret_hash, created_at_ms, expires_at_ms, cargos, monthly_micro)
         SELECT $1, $2, $3, $4, $5, $6, $7, $10, $11, $12
         WHERE (SELECT count(*) FROM api_keys WHERE account_id = $2 AND (revoked_at_ms IS NULL OR revoked_at_ms > $8)) < $9
         RETURNING number`,
        [
          ...[
            id,
            accountId,
            textToColumn(name),
            prefix,
            scopes.join(","),
            secretHash,
            createdAtMs,
            revokedAfterMs,
            maxKeys,
          ],
          ...[expiresAtMs, cargos && JSON.stringify(cargos), monthlyMicro],
        ],
      );
      if (inserted === undefined) throw REFUSALS.too_many_keys(maxKeys);
      return inserted.number;
    });
  }

  async findKey(secretHash: string): Promise<ApiKey | undefined> {
    const row = await this.#one<KeyRow>(`${KEY} WHERE secret_hash = $1 AND revoked_at_ms IS NULL`, [secretHash]);
    return row === undefined ? undefined : keyOf(row);
  }

  async listKeys(accountId: string): Promise<ApiKey[]> {
    const sql = `${KEY} WHERE account_id = $1 AND revoked_at_ms IS NULL ORDER BY id DESC`;
    return (await this.#db.use((session) => session.all<KeyRow>(sql, [accountId]))).map(keyOf);
  }

  revokeKey(accountId: string, keyId: string, atMs: number): Promise<boolean> {
    return this.#isRun(
      "UPDATE api_keys SET revoked_at_ms = $1 WHERE id = $2 AND account_id = $3 AND revoked_at_ms IS NULL",
      [atMs, keyId, accountId],
    );
  }

  async credentialsRevision(): Promise<number> {
    const row = await this.#one<{ revision: number }>("SELECT revision FROM credentials_revision", []);
    if (row === undefined) throw new Error("The revision of the credentials is missing from the database");
    return row.revision;
  }

  async touchKey(keyId: string, atMs: number): Promise<void> {
    await this.#run("UPDATE api_keys SET last_used_at_ms = $1 WHERE id = $2 AND coalesce(last_used_at_ms, 0) < $1", [
      atMs,
      keyId,
    ]);
  }

  createSession(...[signIn, maxSessions]: Parameters<AccountStore["createSession"]>): Promise<void> {
    const { tokenHash, accountId, createdAtMs, expiresAtMs } = signIn;
    return this.#db.transact(async (session) => {
      await session.run(
        "INSERT INTO sessions (token_hash, account_id, created_at_ms, expires_at_ms) VALUES ($1, $2, $3, $4)",
        [tokenHash, accountId, createdAtMs, expiresAtMs],
      );
      await session.run(
        `DELETE FROM sessions WHERE token_hash = ANY (ARRAY(
           SELECT token_hash FROM sessions WHERE account_id = $1 AND token_hash <> $2
           ORDER BY created_at_ms DESC OFFSET $3))`,
        [accountId, tokenHash, maxSessions - 1],
      );
    });
  }

  findSession(tokenHash: string, nowMs: number): Promise<SignIn | undefined> {
    return this.#one(
      `SELECT account_id AS "accountId", expires_at_ms AS "expiresAtMs" FROM sessions
       WHERE token_hash = $1 AND expires_at_ms > $2`,
      [tokenHash, nowMs],
    );
  }

  async deleteSession(tokenHash: string): Promise<void> {
    await this.#run("DELETE FROM sessions WHERE token_hash = $1", [tokenHash]);
  }

  createIslandToken(...[token, cap]: Parameters<AccountStore["createIslandToken"]>): Promise<void> {
    return this.#db.transact((session) => tokens.createIslandToken(session, token, cap));
  }

  async touchIslandToken(tokenId: string, atMs: number): Promise<void> {
    await this.#run(tokens.TOUCH, [tokenId, atMs]);
  }

  createPairingCode(...[code, limits]: Parameters<AccountStore["createPairingCode"]>): Promise<void> {
    return this.#db.transact((session) => tokens.createPairingCode(session, code, limits));
  }

  redeemPairingCode(
    ...[token, cap]: Parameters<AccountStore["redeemPairingCode"]>
  ): ReturnType<AccountStore["redeemPairingCode"]> {
    return this.#db.transact((session) => tokens.redeemPairingCode(session, token, cap));
  }

  async findIslandToken(tokenHash: string): Promise<IslandToken | undefined> {
    const row = await this.#one<IslandToken>(tokens.FIND, [tokenHash]);
    return row === undefined ? undefined : named(row);
  }

  async hasIslandToken(tokenId: string): Promise<boolean> {
    return (await this.#one(tokens.HAS, [tokenId])) !== undefined;
  }

  async listIslandTokens(accountId: string): Promise<IslandToken[]> {
    return (await this.#db.use((session) => session.all<IslandToken>(tokens.LIST, [accountId]))).map(named);
  }

  revokeIslandToken(accountId: string, tokenId: string, atMs: number): Promise<boolean> {
    return this.#isRun(tokens.REVOKE, [atMs, tokenId, accountId]);
  }

  #one<T>(sql: string, values: readonly unknown[]): Promise<T | undefined> {
    return this.#db.use((session) => session.one<T>(sql, values));
  }

  #run(sql: string, values: readonly unknown[]): Promise<number> {
    return this.#db.use((session) => session.run(sql, values));
  }

  async #isRun(sql: string, values: readonly unknown[]): Promise<boolean> {
    return (await this.#run(sql, values)) === 1;
  }
}

const RESET = "SELECT account_id AS id FROM password_resets WHERE token_hash = $1 AND expires_at_ms > $2";

const named = <T extends { readonly name: string }>(row: T): T => ({ ...row, name: textFromColumn(row.name) });
