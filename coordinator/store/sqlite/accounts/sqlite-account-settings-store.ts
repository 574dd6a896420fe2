import type Database from "better-sqlite3";
import type { AccountSettingsStore, EmailChange, SessionRecord } from "../../account-settings-store.ts";
import type { ApiKey } from "../../account-store.ts";
import type { Writer } from "../engine/writer.ts";
import { emailKey, KEY_COLUMNS, keyOf, type KeyRow } from "./key-rows.ts";

export class SqliteAccountSettingsStore implements AccountSettingsStore {
  readonly #writer: Pick<Writer, "run">;
  readonly #selectKey: Database.Statement<[string], KeyRow>;
  readonly #selectChange: Database.Statement<[string, number], Pick<EmailChange, "accountId" | "email">>;
  readonly #selectSessions: Database.Statement<[string, number], SessionRecord>;
  readonly #selectSpending: Database.Statement<[string, number], [string, number]>;

  constructor(db: Database.Database, writer: Pick<Writer, "run">) {
    this.#writer = writer;
    this.#selectKey = db.prepare(`SELECT ${KEY_COLUMNS} FROM api_keys WHERE id = ? AND revoked_at_ms IS NULL`);
    this.#selectChange = db.prepare(
      "SELECT account_id AS accountId, email FROM email_changes WHERE token_hash = ? AND expires_at_ms > ?",
    );
    this.#selectSessions = db.prepare(
      `SELECT token_hash AS tokenHash, account_id AS accountId, created_at_ms AS createdAtMs, expires_at_ms AS expiresAtMs,
         last_used_at_ms AS lastUsedAtMs
       FROM sessions WHERE account_id = ? AND expires_at_ms > ? ORDER BY created_at_ms DESC, token_hash`,
    );
    this.#selectSpending = db
      .prepare<[string, number], [string, number]>(
        `SELECT id, micro FROM api_keys JOIN key_spending ON key_number = number
         WHERE account_id = ? AND monthly_micro IS NOT NULL AND month = ?`,
      )
      .raw();
  }

  setEmail(accountId: string, email: string): Promise<boolean> {
    return this.#writer.run("setEmail", { accountId, email, emailKey: emailKey(email) });
  }

  createEmailChange(change: EmailChange): Promise<void> {
    return this.#writer.run("createEmailChange", change);
  }

  async findEmailChange(tokenHash: string, nowMs: number): ReturnType<AccountSettingsStore["findEmailChange"]> {
    return this.#selectChange.get(tokenHash, nowMs);
  }

  async listSessions(accountId: string, nowMs: number): Promise<SessionRecord[]> {
    return this.#selectSessions.all(accountId, nowMs);
  }

  touchSession(tokenHash: string, atMs: number): Promise<void> {
    return this.#writer.run("touchSession", { tokenHash, atMs });
  }

  async changeKey(
    ...[accountId, id, { cargos, ...rest }, nowMs]: Parameters<AccountSettingsStore["changeKey"]>
  ): Promise<ApiKey | undefined> {
    const change = { ...rest, ...(cargos === undefined ? {} : { cargos: cargos && JSON.stringify(cargos) }) };
    const isChanged = await this.#writer.run("changeKey", { accountId, id, change, nowMs });
    const row = isChanged ? this.#selectKey.get(id) : undefined;
    return row === undefined ? undefined : keyOf(row);
  }

  async keySpending(accountId: string, month: number): Promise<ReadonlyMap<string, number>> {
    return new Map(this.#selectSpending.all(accountId, month));
  }
}
