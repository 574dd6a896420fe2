import type Database from "better-sqlite3";
import type { EmailChange } from "../../account-settings-store.ts";
import { utcDayOf } from "../../host-figures.ts";
import { monthBeginMs, utcMonthOf } from "../../key-spending.ts";
import { REFUSALS } from "../../refusals.ts";
import { allUsage } from "../../usage.ts";

/** The columns of a key that are set together; undefined for those that stay. */
interface KeyColumns {
  readonly name?: string;
  readonly expiresAtMs?: number | null;
  /** JSON text. */
  readonly cargos?: string | null;
  readonly monthlyMicro?: number | null;
}

export interface SettingsOperations {
  setEmail(args: { accountId: string; email: string; emailKey: string }): boolean;
  createEmailChange(args: EmailChange): void;
  touchSession(args: { tokenHash: string; atMs: number }): void;
  changeKey(args: { accountId: string; id: string; change: KeyColumns; nowMs: number }): boolean;
}

export function settingsOperations(db: Database.Database): SettingsOperations {
  const insertChange = db.prepare<EmailChange>(
    `INSERT INTO email_changes (account_id, token_hash, email, expires_at_ms) VALUES (@accountId, @tokenHash, @email, @expiresAtMs)
     ON CONFLICT (account_id) DO UPDATE SET token_hash = excluded.token_hash, email = excluded.email,
       expires_at_ms = excluded.expires_at_ms`,
  );
  const touchSession = db.prepare<{ tokenHash: string; atMs: number }>(
    "UPDATE sessions SET last_used_at_ms = @atMs WHERE token_hash = @tokenHash AND coalesce(last_used_at_ms, 0) < @atMs",
  );
  return {
    setEmail: prepareSetEmail(db),
    createEmailChange: (change) => void insertChange.run(change),
    touchSession: (args) => void touchSession.run(args),
    changeKey: prepareChangeKey(db),
  };
}

function prepareSetEmail(db: Database.Database): SettingsOperations["setEmail"] {
  const findHolder = db.prepare<[string], string>("SELECT id FROM accounts WHERE email_key = ?").pluck();
  const update = db.prepare<{ accountId: string; email: string; emailKey: string }>(
    "UPDATE accounts SET email = @email, email_key = @emailKey WHERE id = @accountId AND deleted_at_ms IS NULL",
  );
  const voids = ["password_resets", "email_changes"].map((table) =>
    db.prepare<[string]>(`DELETE FROM ${table} WHERE account_id = ?`),
  );
  return (args) => {
    const holder = findHolder.get(args.emailKey);
    if (holder !== undefined && holder !== args.accountId) throw REFUSALS.email_taken();
    if (update.run(args).changes === 0) return false;
    for (const deletion of voids) deletion.run(args.accountId);
    return true;
  };
}

function prepareChangeKey(db: Database.Database): SettingsOperations["changeKey"] {
  const select = db.prepare<[string, string], Required<KeyColumns> & { number: number }>(
    `SELECT number, name, expires_at_ms AS expiresAtMs, cargos, monthly_micro AS monthlyMicro FROM api_keys
     WHERE id = ? AND account_id = ? AND revoked_at_ms IS NULL`,
  );
  const update = db.prepare<Required<KeyColumns> & { id: string }>(
    `UPDATE api_keys SET name = @name, expires_at_ms = @expiresAtMs, cargos = @cargos, monthly_micro = @monthlyMicro WHERE id = @id`,
  );
  const recount = prepareRecount(db);
  return ({ accountId, id, change, nowMs }) => {
    const known = select.get(id, accountId);
    if (known === undefined) return false;
    const changed = { ...known, ...change };
    update.run({ ...changed, id });
    if (known.monthlyMicro === null && changed.monthlyMicro !== null)
      recount(accountId, { id, number: known.number }, nowMs);
    return true;
  };
}

/** Counts what a key has spent in this month when it gets a limit. From then on its jobs are counted as they are stored and end. */
function prepareRecount(
  db: Database.Database,
): (accountId: string, key: { id: string; number: number }, nowMs: number) => void {
  const live = "account_id = @accountId AND completed_at_ms IS NULL AND key_number = @number";
  const set = db.prepare(
    `INSERT INTO key_spending (key_number, month, micro) SELECT @number, @month,
       (SELECT coalesce(sum(micro), 0) FROM (${allUsage({ dialect: "sqlite" })}) WHERE kind = 'spent' AND key_id = @keyId)
       + (SELECT coalesce(sum(price_micro), 0) FROM jobs INDEXED BY jobs_live WHERE ${live})
     WHERE true ON CONFLICT DO UPDATE SET month = excluded.month, micro = excluded.micro`,
  );
  const mark = db.prepare(`UPDATE jobs INDEXED BY jobs_live SET key_month = @month WHERE ${live}`);
  return (accountId, { id: keyId, number }, nowMs) => {
    const month = utcMonthOf(nowMs);
    const [fromDay, toDay] = [utcDayOf(monthBeginMs(month)), utcDayOf(monthBeginMs(month + 1)) - 1];
    set.run({ accountId, keyId, number, month, fromDay, toDay });
    mark.run({ accountId, number, month });
  };
}
