import type Database from "better-sqlite3";
import type { PendingWebhook, TryOutcome, WebhookRecord, WebhookStore, WebhookTry } from "../../webhook-store.ts";
import type { Writer } from "../engine/writer.ts";
import type { SecretBox } from "../../secret-box.ts";

interface WebhookRow extends Omit<WebhookRecord, "subject" | "secret" | "isSecretGenerated" | "tries"> {
  readonly secret: string;
  readonly subjectKind: WebhookRecord["subject"]["kind"];
  readonly subjectId: string;
  readonly isSecretGenerated: 0 | 1;
  readonly tries: string;
}

export class SqliteWebhookStore implements WebhookStore {
  readonly #writer: Writer;
  readonly #secrets: Pick<SecretBox, "unseal">;
  readonly #select: Database.Statement<[string], WebhookRow>;
  readonly #selectPending: Database.Statement<[], PendingWebhook>;

  constructor(db: Database.Database, writer: Writer, secrets: Pick<SecretBox, "unseal">) {
    this.#writer = writer;
    this.#secrets = secrets;
    this.#select = db.prepare(
      `SELECT id, account_id AS accountId, subject_kind AS subjectKind, subject_id AS subjectId, url, secret,
         is_secret_generated AS isSecretGenerated, state, ended_at_ms AS endedAtMs, tries
       FROM webhooks WHERE id = ?`,
    );
    this.#selectPending = db.prepare(
      `SELECT id, account_id AS accountId, due_at_ms AS dueAtMs FROM webhooks WHERE state = 'pending' ORDER BY due_at_ms`,
    );
  }

  async get(webhookId: string): Promise<WebhookRecord | undefined> {
    const row = this.#select.get(webhookId);
    if (row === undefined) return undefined;
    const { subjectKind, subjectId, secret, isSecretGenerated, tries, ...rest } = row;
    return {
      ...rest,
      secret: this.#secrets.unseal(secret),
      subject: { kind: subjectKind, id: subjectId },
      isSecretGenerated: isSecretGenerated === 1,
      tries: JSON.parse(tries) as WebhookTry[],
    };
  }

  async pending(): Promise<PendingWebhook[]> {
    return this.#selectPending.all();
  }

  /** A database file has one coordinator. */
  async adopt(): Promise<PendingWebhook[]> {
    return [];
  }

  async toDeliver(webhookId: string): Promise<WebhookRecord | undefined> {
    const webhook = await this.get(webhookId);
    return webhook?.state === "pending" ? webhook : undefined;
  }

  async record(webhookId: string, attempt: WebhookTry, outcome: TryOutcome): Promise<void> {
    await this.#writer.run("recordWebhookTry", { webhookId, attempt, outcome });
  }
}
