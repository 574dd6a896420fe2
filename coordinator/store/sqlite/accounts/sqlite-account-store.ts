import type Database from "better-sqlite3";
import type {
  Account,
  AccountLimits,
  AccountStanding,
  AccountStore,
  ApiKey,
  IslandToken,
  Session,
} from "../../account-store.ts";
import { LIMIT_COLUMNS } from "./account-operations.ts";
import { emailKey, KEY_COLUMNS, keyOf, type KeyRow } from "./key-rows.ts";
import type { Writer } from "../engine/writer.ts";

const ACCOUNT_COLUMNS = "accounts.id, email, created_at_ms AS createdAtMs, balances.micro AS balanceMicro, role";
const TOKEN_COLUMNS = `id, account_id AS accountId, name, created_at_ms AS createdAtMs,
  last_used_at_ms AS lastUsedAtMs`;

export class SqliteAccountStore implements AccountStore {
  readonly #writer: Pick<Writer, "run">;
  readonly #selectAccount: Database.Statement<[string], Account>;
  readonly #selectByEmail: Database.Statement<[string], Account>;
  readonly #selectPassword: Database.Statement<[string], string>;
  readonly #selectLimits: Database.Statement<[string], AccountLimits>;
  readonly #selectStanding: Database.Statement<[string], AccountLimits & Omit<AccountStanding, "limits">>;
  readonly #selectKey: Database.Statement<[string], KeyRow>;
  readonly #selectKeys: Database.Statement<[string], KeyRow>;
  readonly #selectRevision: Database.Statement<[], number>;
  readonly #selectSession: Database.Statement<[string, number], Session>;
  readonly #selectReset: Database.Statement<[string, number], string>;
  readonly #selectToken: Database.Statement<[string], IslandToken>;
  readonly #selectTokenId: Database.Statement<[string], string>;
  readonly #selectSignUp: Database.Statement<[string, number], string>;
  readonly #selectTokens: Database.Statement<[string], IslandToken>;

  constructor(db: Database.Database, writer: Pick<Writer, "run">) {
    this.#writer = writer;
    const account = `SELECT ${ACCOUNT_COLUMNS} FROM accounts JOIN balances ON balances.party = 'client:' || accounts.id`;
    this.#selectAccount = db.prepare(`${account} WHERE accounts.id = ? AND deleted_at_ms IS NULL`);
    this.#selectByEmail = db.prepare(`${account} WHERE email_key = ?`);
    this.#selectPassword = db.prepare<[string], string>("SELECT password_hash FROM accounts WHERE id = ?").pluck();
    this.#selectLimits = db.prepare(`SELECT ${LIMIT_COLUMNS} FROM accounts WHERE id = ?`);
    this.#selectStanding = db.prepare(
      `SELECT ${LIMIT_COLUMNS}, role, suspended_because AS suspendedBecause FROM accounts WHERE id = ? AND deleted_at_ms IS NULL`,
    );
    this.#selectKey = db.prepare(`SELECT ${KEY_COLUMNS} FROM api_keys WHERE secret_hash = ? AND revoked_at_ms IS NULL`);
    this.#selectKeys = db.prepare(
      `SELECT ${KEY_COLUMNS} FROM api_keys WHERE account_id = ? AND revoked_at_ms IS NULL ORDER BY id DESC`,
    );
    this.#selectRevision = db.prepare<[], number>("SELECT revision FROM credentials_revision").pluck();
    this.#selectSession = db.prepare(
      `SELECT account_id AS accountId, expires_at_ms AS expiresAtMs FROM sessions
       WHERE token_hash = ? AND expires_at_ms > ?`,
    );
    this.#selectReset = db
      .prepare<[string, number], string>(
        "SELECT account_id FROM password_resets WHERE token_hash = ? AND expires_at_ms > ?",
      )
      .pluck();
    this.#selectToken = db.prepare(
      `SELECT ${TOKEN_COLUMNS} FROM island_tokens WHERE token_hash = ? AND revoked_at_ms IS NULL`,
    );
    this.#selectTokenId = db
      .prepare<[string], string>("SELECT id FROM island_tokens WHERE id = ? AND revoked_at_ms IS NULL")
      .pluck();
    this.#selectSignUp = db
      .prepare<[string, number], string>("SELECT email FROM sign_ups WHERE token_hash = ? AND expires_at_ms > ?")
      .pluck();
    this.#selectTokens = db.prepare(
      `SELECT ${TOKEN_COLUMNS} FROM island_tokens WHERE account_id = ? AND revoked_at_ms IS NULL ORDER BY id DESC`,
    );
  }

  async create(account: Parameters<AccountStore["create"]>[0]): Promise<Account> {
    await this.#writer.run("createAccount", { ...account, emailKey: emailKey(account.email) });
    const created = await this.get(account.id);
    if (created === undefined) throw new Error(`The account ${account.id} is missing from the database`);
    return created;
  }

  async get(accountId: string): Promise<Account | undefined> {
    return this.#selectAccount.get(accountId);
  }

  async getByEmail(email: string): Promise<Account | undefined> {
    return this.#selectByEmail.get(emailKey(email));
  }

  async passwordHash(accountId: string): Promise<string | undefined> {
    return this.#selectPassword.get(accountId);
  }

  setPassword(change: Parameters<AccountStore["setPassword"]>[0]): Promise<boolean> {
    return this.#writer.run("setPassword", change);
  }

  createReset(reset: Parameters<AccountStore["createReset"]>[0]): Promise<boolean> {
    return this.#writer.run("createReset", reset);
  }

  async findReset(tokenHash: string, nowMs: number): Promise<string | undefined> {
    return this.#selectReset.get(tokenHash, nowMs);
  }

  useReset(use: Parameters<AccountStore["useReset"]>[0]): Promise<boolean> {
    return this.#writer.run("useReset", use);
  }

  delete(accountId: string, atMs: number): Promise<boolean> {
    return this.#writer.run("deleteAccount", { accountId, atMs });
  }

  createSignUp(signUp: Parameters<AccountStore["createSignUp"]>[0]): Promise<boolean> {
    return this.#writer.run("createSignUp", { ...signUp, emailKey: emailKey(signUp.email) });
  }

  async findSignUp(tokenHash: string, nowMs: number): Promise<string | undefined> {
    return this.#selectSignUp.get(tokenHash, nowMs);
  }

  deleteSignUp(tokenHash: string): Promise<void> {
    return this.#writer.run("deleteSignUp", { tokenHash });
  }

  async standing(accountId: string): Promise<AccountStanding | undefined> {
    const row = this.#selectStanding.get(accountId);
    if (row === undefined) return undefined;
    const { role, suspendedBecause, ...limits } = row;
    return { limits, role, suspendedBecause };
  }

  async limits(accountId: string): Promise<AccountLimits | undefined> {
    return this.#selectLimits.get(accountId);
  }

  setLimits(accountId: string, limits: Partial<AccountLimits>): Promise<AccountLimits> {
    return this.#writer.run("setLimits", { accountId, limits });
  }

  createKey(...[{ scopes, cargos = null, ...key }, cap]: Parameters<AccountStore["createKey"]>): Promise<number> {
    const limits = { expiresAtMs: null, monthlyMicro: null, cargos: cargos && JSON.stringify(cargos) };
    return this.#writer.run("createKey", { ...limits, ...key, ...cap, scopes: scopes.join(",") });
  }

  async findKey(secretHash: string): Promise<ApiKey | undefined> {
    const row = this.#selectKey.get(secretHash);
    return row === undefined ? undefined : keyOf(row);
  }

  async listKeys(accountId: string): Promise<ApiKey[]> {
    return this.#selectKeys.all(accountId).map(keyOf);
  }

  async credentialsRevision(): Promise<number> {
    const revision = this.#selectRevision.get();
    if (revision === undefined) throw new Error("The revision of the credentials is missing from the database");
    return revision;
  }

  revokeKey(accountId: string, keyId: string, atMs: number): Promise<boolean> {
    return this.#writer.run("revokeKey", { accountId, id: keyId, atMs });
  }

  touchKey(keyId: string, atMs: number): Promise<void> {
    return this.#writer.run("touchKey", { id: keyId, atMs });
  }

  createSession(...[session, maxSessions]: Parameters<AccountStore["createSession"]>): Promise<void> {
    return this.#writer.run("createSession", { ...session, maxSessions });
  }

  async findSession(tokenHash: string, nowMs: number): Promise<Session | undefined> {
    return this.#selectSession.get(tokenHash, nowMs);
  }

  deleteSession(tokenHash: string): Promise<void> {
    return this.#writer.run("deleteSession", { tokenHash });
  }

  createIslandToken(...[token, cap]: Parameters<AccountStore["createIslandToken"]>): Promise<void> {
    return this.#writer.run("createIslandToken", { ...token, ...cap });
  }

  touchIslandToken(tokenId: string, atMs: number): Promise<void> {
    return this.#writer.run("touchIslandToken", { id: tokenId, atMs });
  }

  createPairingCode(...[code, limits]: Parameters<AccountStore["createPairingCode"]>): Promise<void> {
    return this.#writer.run("createPairingCode", { ...code, ...limits });
  }

  redeemPairingCode(
    ...[token, cap]: Parameters<AccountStore["redeemPairingCode"]>
  ): ReturnType<AccountStore["redeemPairingCode"]> {
    return this.#writer.run("redeemPairingCode", { ...token, ...cap });
  }

  async findIslandToken(tokenHash: string): Promise<IslandToken | undefined> {
    return this.#selectToken.get(tokenHash);
  }

  async hasIslandToken(tokenId: string): Promise<boolean> {
    return this.#selectTokenId.get(tokenId) !== undefined;
  }

  async listIslandTokens(accountId: string): Promise<IslandToken[]> {
    return this.#selectTokens.all(accountId);
  }

  revokeIslandToken(accountId: string, tokenId: string, atMs: number): Promise<boolean> {
    return this.#writer.run("revokeIslandToken", { accountId, id: tokenId, atMs });
  }
}
