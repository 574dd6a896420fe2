import { partiesOf, type Posting } from "../../credits/postings.ts";
import { beginRemoval } from "../jobs/content.ts";
import { credentialSteps } from "./credentials.ts";
import { islandTokenSteps } from "../island-tokens.ts";
import { REFUSALS } from "../refusals.ts";
import { read, write, type Opened } from "../steps/steps.ts";
import { integer, key, nullable, Table, text, written, type RowOf } from "../steps/table.ts";
import { countRows, forUpdate, isUniqueViolation, type Tx } from "../steps/tx.ts";

/** Roles of accounts. An `operator` may see and change the whole network; only a command grants the role. */
export const ROLES = ["user", "operator"] as const;
export type Role = (typeof ROLES)[number];

export const accountTable = new Table(
  "accounts",
  {
    id: key("PRIMARY KEY"),
    email: text(),
    /** Lower-case address, which identifies the account; for a deleted account, its id. */
    emailKey: key("UNIQUE"),
    /** scrypt hash with its salt and cost. */
    passwordHash: text(),
    createdAtMs: integer(),
    /** Maximum requests per minute of each API key and each session; null for the default. */
    requestsPerMinute: nullable(integer("CHECK (requests_per_minute >= 1)")),
    concurrentJobs: nullable(integer("CHECK (concurrent_jobs >= 0)")),
    concurrentStreams: nullable(integer("CHECK (concurrent_streams >= 0)")),
    deletedAtMs: nullable(integer()),
    /** Weight in the fair share of slot time between waiting accounts; null for the default. */
    share: nullable(integer("CHECK (share >= 1)")),
    role: text<Role>("DEFAULT 'user' CHECK (role IN ('user', 'operator'))"),
    suspendedAtMs: nullable(integer()),
    /** Reason of the suspension, shown to the account. */
    suspendedBecause: nullable(written()),
  },
  {
    indexes: [
      "CREATE INDEX accounts_suspended ON accounts (id) WHERE suspended_at_ms IS NOT NULL",
      "CREATE INDEX accounts_by_role ON accounts (role, id) WHERE role <> 'user'",
    ],
  },
);

export const passwordResetTable = new Table(
  "password_resets",
  { tokenHash: key("PRIMARY KEY"), accountId: key("REFERENCES accounts (id)"), expiresAtMs: integer() },
  { indexes: ["CREATE INDEX password_resets_by_account ON password_resets (account_id)"] },
);

/** Registrations that wait for the confirmation of their e-mail address. */
export const signUpTable = new Table(
  "sign_ups",
  { tokenHash: key("PRIMARY KEY"), email: text(), emailKey: key("UNIQUE"), expiresAtMs: integer() },
  { indexes: ["CREATE INDEX sign_ups_by_expiry ON sign_ups (expires_at_ms)"] },
);

/** Changes of e-mail addresses that wait for the confirmation of the new address. */
export const emailChangeTable = new Table(
  "email_changes",
  {
    accountId: key("PRIMARY KEY REFERENCES accounts (id)"),
    tokenHash: key("UNIQUE"),
    email: text(),
    expiresAtMs: integer(),
  },
  { indexes: ["CREATE INDEX email_changes_by_expiry ON email_changes (expires_at_ms)"] },
);

type AccountRow = RowOf<typeof accountTable>;

export interface Account extends Pick<AccountRow, "id" | "email" | "createdAtMs" | "role"> {
  /** Spendable balance, without the credits held for unfinished jobs. */
  readonly balanceMicro: number;
}

const LIMITS = ["requestsPerMinute", "concurrentJobs", "concurrentStreams", "share"] as const;
/** Limits of one account; null for the default of `quotas/account-limits.ts`. Source of all except `share`: spec §8. */
export type AccountLimits = Pick<AccountRow, (typeof LIMITS)[number]>;

interface AccountStatus extends Pick<AccountRow, "role"> {
  readonly limits: AccountLimits;
  readonly suspensionReason: AccountRow["suspendedBecause"];
}

interface NewAccount extends Pick<AccountRow, "id" | "email" | "passwordHash" | "createdAtMs"> {
  /** Postings of the first grant; empty without a grant. */
  readonly postings: readonly Posting[];
}

const ACCOUNT = `SELECT ${accountTable.columns("id", "email", "createdAtMs", "role")}, balances.micro AS "balanceMicro"
  FROM accounts JOIN balances ON balances.party = 'client:' || accounts.id`;
const SELECT_LIMITS = `SELECT ${accountTable.columns(...LIMITS)} FROM accounts WHERE id = @accountId`;
/** SQL for `accountStatus`, built once because every request runs it. */
const ACCOUNT_STATUS = `SELECT ${accountTable.columns(...LIMITS, "role", "suspendedBecause")} FROM accounts
  WHERE id = @accountId AND deleted_at_ms IS NULL`;
const RESET = "SELECT account_id AS id FROM password_resets WHERE token_hash = @tokenHash AND expires_at_ms > @nowMs";
/** Tables with an account's credentials, whose rows are deleted with the account. */
const CREDENTIAL_TABLES = [
  "api_keys",
  "sessions",
  "island_tokens",
  "pairing_codes",
  "password_resets",
  "email_changes",
] as const;

function emailKey(email: string): string {
  return email.toLowerCase();
}

async function removeOf(tx: Tx, accountId: string, tables: readonly (typeof CREDENTIAL_TABLES)[number][]) {
  // oxlint-disable-next-line no-await-in-loop -- At most six short statements.
  for (const table of tables) await tx.run(`DELETE FROM ${table} WHERE account_id = @accountId`, { accountId });
}

async function setPassword(
  tx: Tx,
  change: { readonly accountId: string; readonly passwordHash: string; readonly keptTokenHash: string | null },
): Promise<boolean> {
  const { accountId, passwordHash } = change;
  const set = "UPDATE accounts SET password_hash = @passwordHash WHERE id = @accountId AND deleted_at_ms IS NULL";
  if ((await tx.run(set, { accountId, passwordHash })) === 0) return false;
  const endSessions = "DELETE FROM sessions WHERE account_id = @accountId AND token_hash <> @keptTokenHash";
  await tx.run(endSessions, { accountId, keptTokenHash: change.keptTokenHash ?? "" });
  // Someone who knew the old password may have requested another address.
  await removeOf(tx, accountId, ["password_resets", "email_changes"]);
  return true;
}

/** Secrets are stored only as hashes (hex SHA-256, or scrypt for passwords). */
export const accountSteps = {
  ...credentialSteps,
  ...islandTokenSteps,

  /**
   * Creates the account and its balances and posts the first grant, in one commit.
   * @throws {ServiceError} `email_taken`, compared without case; or the refusal of the postings (`refusalOf`).
   */
  create: write(async (tx, { postings, ...account }: NewAccount): Promise<Account> => {
    const { id, email, createdAtMs } = account;
    const row = { ...account, emailKey: emailKey(email) };
    const inserted = await accountTable.insert(tx, row, "ON CONFLICT (email_key) DO NOTHING");
    if (inserted === 0) throw REFUSALS.email_taken();
    // oxlint-disable-next-line no-await-in-loop -- An account has two parties.
    for (const party of partiesOf(id))
      await tx.run("INSERT INTO balances (party, micro) VALUES (@party, 0)", { party });
    await tx.post(postings, createdAtMs);
    const own = postings.filter(({ party }) => party === `client:${id}`);
    return { id, email, createdAtMs, role: "user", balanceMicro: own.reduce((sum, { micro }) => sum + micro, 0) };
  }),

  get: read((tx, accountId: string) =>
    tx.one<Account>(`${ACCOUNT} WHERE accounts.id = @accountId AND deleted_at_ms IS NULL`, { accountId }),
  ),

  getByEmail: read(async (tx, email: string) => {
    // PostgreSQL rejects a NUL character in a parameter, and no address contains one.
    if (email.includes("\0")) return undefined;
    return tx.one<Account>(`${ACCOUNT} WHERE email_key = @emailKey`, { emailKey: emailKey(email) });
  }),

  passwordHash: read(async (tx, accountId: string) => {
    const sql = "SELECT password_hash AS hash FROM accounts WHERE id = @accountId";
    return (await tx.one<{ hash: string }>(sql, { accountId }))?.hash;
  }),

  /**
   * Sets the password, ends the account's sessions except the one with `keptTokenHash`, and deletes its password resets
   * and pending address change. Returns false if there is no such account.
   */
  setPassword: write(setPassword),

  /** Stores a password reset. Returns false if the account already has `maxResets` unexpired resets. */
  createReset: write(
    async (tx, reset: RowOf<typeof passwordResetTable> & { readonly nowMs: number; readonly maxResets: number }) => {
      await tx.lockAccount(reset.accountId);
      const valid = "FROM password_resets WHERE account_id = @accountId AND expires_at_ms > @nowMs";
      if ((await countRows(tx, valid, reset)) >= reset.maxResets) return false;
      await passwordResetTable.insert(tx, reset);
      return true;
    },
  ),

  /** Returns the id of the account with this unexpired password reset. */
  findReset: read(
    async (tx, tokenHash: string, nowMs: number) => (await tx.one<{ id: string }>(RESET, { tokenHash, nowMs }))?.id,
  ),

  /** Uses up the reset and sets the password like `setPassword`. Returns false if the reset is not valid. */
  useReset: write(async (tx, use: { tokenHash: string; passwordHash: string; nowMs: number }) => {
    const found = await tx.one<{ id: string }>(`${RESET} ${forUpdate(tx)}`, use);
    if (found === undefined) return false;
    return setPassword(tx, { accountId: found.id, passwordHash: use.passwordHash, keptTokenHash: null });
  }),

  /**
   * Deletes address, password and all credentials, and starts the removal of the content (`content.ts`), in one commit.
   * Keeps the id, for the ledger. Returns false if there is no such account.
   */
  delete: write(async (tx, accountId: string, atMs: number) => {
    // `email_key` must be unique, and an id never equals an address.
    const blank = `UPDATE accounts SET email = '', email_key = id, password_hash = '', deleted_at_ms = @atMs, role = 'user',
        suspended_at_ms = NULL, suspended_because = NULL
      WHERE id = @accountId AND deleted_at_ms IS NULL`;
    if ((await tx.run(blank, { accountId, atMs })) === 0) return false;
    await removeOf(tx, accountId, CREDENTIAL_TABLES);
    await beginRemoval(tx, { kind: "account", id: accountId }, atMs);
    return true;
  }),

  /**
   * Stores a registration, replacing an earlier one for the address, and removes expired ones.
   * Returns false and stores nothing if the earlier one expires after `keptIfAfterMs`.
   */
  createSignUp: write(
    async (
      tx,
      signUp: Omit<RowOf<typeof signUpTable>, "emailKey"> & { readonly nowMs: number; readonly keptIfAfterMs: number },
    ) => {
      await tx.run("DELETE FROM sign_ups WHERE expires_at_ms <= @nowMs", signUp);
      const orReplace = `ON CONFLICT (email_key) DO UPDATE SET token_hash = excluded.token_hash, email = excluded.email,
        expires_at_ms = excluded.expires_at_ms WHERE sign_ups.expires_at_ms <= @keptIfAfterMs`;
      return (await signUpTable.insert(tx, { ...signUp, emailKey: emailKey(signUp.email) }, orReplace)) === 1;
    },
  ),

  /** Returns the address of an unexpired registration. */
  findSignUp: read(async (tx, tokenHash: string, nowMs: number) => {
    const sql = "SELECT email FROM sign_ups WHERE token_hash = @tokenHash AND expires_at_ms > @nowMs";
    return (await tx.one<{ email: string }>(sql, { tokenHash, nowMs }))?.email;
  }),

  deleteSignUp: write(async (tx, tokenHash: string): Promise<void> => {
    await tx.run("DELETE FROM sign_ups WHERE token_hash = @tokenHash", { tokenHash });
  }),

  /** Returns limits, role and suspension of an account; undefined if the account is unknown or deleted. */
  accountStatus: read(async (tx, accountId: string): Promise<AccountStatus | undefined> => {
    type Row = AccountLimits & Pick<AccountRow, "role" | "suspendedBecause">;
    const row = await accountTable.row<Row>(tx, ACCOUNT_STATUS, { accountId });
    if (row === undefined) return undefined;
    const { role, suspendedBecause: suspensionReason, ...limits } = row;
    return { limits, role, suspensionReason };
  }),

  limits: read((tx, accountId: string) => tx.one<AccountLimits>(SELECT_LIMITS, { accountId })),

  /** Changes the given limits; null restores a default. @throws {ServiceError} `not_found`. */
  setLimits: write(async (tx, accountId: string, limits: Partial<AccountLimits>): Promise<AccountLimits> => {
    const known = await tx.one<AccountLimits>(`${SELECT_LIMITS} ${forUpdate(tx)}`, { accountId });
    if (known === undefined) throw REFUSALS.no_account();
    const changed = { ...known, ...limits };
    const sql = `UPDATE accounts SET requests_per_minute = @requestsPerMinute, concurrent_jobs = @concurrentJobs,
      concurrent_streams = @concurrentStreams, share = @share WHERE id = @accountId`;
    await tx.run(sql, { ...changed, accountId });
    return changed;
  }),

  /**
   * Sets the address, and voids a pending address change and password resets mailed to the old address. Returns false
   * if there is no such account.
   * @throws {ServiceError} `email_taken`.
   */
  setEmail: write(async (tx, accountId: string, email: string) => {
    const values = { accountId, email, emailKey: emailKey(email) };
    const holder = await tx.one<{ id: string }>("SELECT id FROM accounts WHERE email_key = @emailKey", values);
    if (holder !== undefined && holder.id !== accountId) throw REFUSALS.email_taken();
    const sql =
      "UPDATE accounts SET email = @email, email_key = @emailKey WHERE id = @accountId AND deleted_at_ms IS NULL";
    const set = await tx.run(sql, values).catch((error: unknown) => {
      // Another transaction took the address after the SELECT.
      throw isUniqueViolation(error) ? REFUSALS.email_taken() : error;
    });
    if (set === 0) return false;
    await removeOf(tx, accountId, ["password_resets", "email_changes"]);
    return true;
  }),

  /** Stores a pending address change, replacing the account's earlier one. */
  createEmailChange: write(async (tx, change: RowOf<typeof emailChangeTable>): Promise<void> => {
    const orReplace = `ON CONFLICT (account_id) DO UPDATE SET token_hash = excluded.token_hash, email = excluded.email,
      expires_at_ms = excluded.expires_at_ms`;
    await emailChangeTable.insert(tx, change, orReplace);
  }),

  /** Returns the account and new address of an unexpired address change. */
  findEmailChange: read((tx, tokenHash: string, nowMs: number) => {
    const columns = emailChangeTable.columns("accountId", "email");
    const sql = `SELECT ${columns} FROM email_changes WHERE token_hash = @tokenHash AND expires_at_ms > @nowMs`;
    return tx.one<Pick<RowOf<typeof emailChangeTable>, "accountId" | "email">>(sql, { tokenHash, nowMs });
  }),
};

export type AccountStore = Opened<typeof accountSteps>;
