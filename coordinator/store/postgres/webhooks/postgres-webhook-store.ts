import type { PendingWebhook, TryOutcome, WebhookRecord, WebhookStore, WebhookTry } from "../../webhook-store.ts";
import type { SecretBox } from "../../secret-box.ts";
import type { Database } from "../engine/database.ts";

interface WebhookRow extends Omit<WebhookRecord, "subject" | "secret" | "tries"> {
  readonly secret: string;
  readonly subjectKind: WebhookRecord["subject"]["kind"];
  readonly subjectId: string;
  readonly tries: string;
}

export class PostgresWebhookStore implements WebhookStore {
  readonly #db: Database;
  readonly #secrets: Pick<SecretBox, "unseal">;

  constructor(db: Database, secrets: Pick<SecretBox, "unseal">) {
    this.#db = db;
    this.#secrets = secrets;
  }

  get(webhookId: string): Promise<WebhookRecord | undefined> {
    return this.#db.use(async (session) => {
      const row = await session.one<WebhookRow>(
        `SELECT id, account_id AS "accountId", subject_kind AS "subjectKind", subject_id AS "subjectId", url, secret,
           is_secret_generated AS "isSecretGenerated", state, ended_at_ms AS "endedAtMs", tries
         FROM webhooks WHERE id = $1`,
        [webhookId],
      );
      if (row === undefined) return undefined;
      const { subjectKind, subjectId, secret, tries, ...rest } = row;
      return {
        ...rest,
        secret: this.#secrets.unseal(secret),
        subject: { kind: subjectKind, id: subjectId },
        tries: JSON.parse(tries) as WebhookTry[],
      };
    });
  }

  pending(): Promise<PendingWebhook[]> {
    return this.#db.untilDone((session) =>
      session.all<PendingWebhook>(
        `SELECT id, account_id AS "accountId", due_at_ms AS "dueAtMs" FROM webhooks WHERE state = 'pending' ORDER BY due_at_ms`,
      ),
    );
  }

  record(webhookId: string, attempt: WebhookTry, outcome: TryOutcome): Promise<void> {
    const dueAtMs = outcome.state === "pending" ? outcome.dueAtMs : null;
    return this.#db.use(async (session) => {
      // The log is a JSON array: the try goes before its last bracket.
      await session.run(
        `UPDATE webhooks SET state = $1, due_at_ms = $2,
           tries = left(tries, -1) || CASE tries WHEN '[]' THEN '' ELSE ',' END || $3 || ']'
         WHERE id = $4 AND state = 'pending'`,
        [outcome.state, dueAtMs, JSON.stringify(attempt), webhookId],
      );
    });
  }
}
