import type { PendingWebhook, TryOutcome, WebhookRecord, WebhookStore, WebhookTry } from "../../webhook-store.ts";
import type { SecretBox } from "../../secret-box.ts";
import { isGone } from "../cluster/gone.ts";
import type { Session } from "../engine/connection.ts";
import type { Database } from "../engine/database.ts";

interface WebhookRow extends Omit<WebhookRecord, "subject" | "secret" | "tries"> {
  readonly secret: string;
  readonly subjectKind: WebhookRecord["subject"]["kind"];
  readonly subjectId: string;
  readonly tries: string;
}

const WEBHOOK = `SELECT id, account_id AS "accountId", subject_kind AS "subjectKind", subject_id AS "subjectId", url, secret,
  is_secret_generated AS "isSecretGenerated", state, ended_at_ms AS "endedAtMs", tries FROM webhooks WHERE id = $1`;
const PENDING = `id, account_id AS "accountId", due_at_ms AS "dueAtMs"`;
/** Webhooks that one statement takes over. */
const ADOPTED_AT_ONCE = 1_000;

export class PostgresWebhookStore implements WebhookStore {
  readonly #db: Database;
  readonly #secrets: Pick<SecretBox, "unseal">;
  readonly #selfId: string;

  constructor(db: Database, secrets: Pick<SecretBox, "unseal">, selfId: string) {
    this.#db = db;
    this.#secrets = secrets;
    this.#selfId = selfId;
  }

  get(webhookId: string): Promise<WebhookRecord | undefined> {
    return this.#read(WEBHOOK, [webhookId]);
  }

  toDeliver(webhookId: string): Promise<WebhookRecord | undefined> {
    return this.#read(`${WEBHOOK} AND state = 'pending' AND sender_id = $2`, [webhookId, this.#selfId]);
  }

  #read(sql: string, values: readonly string[]): Promise<WebhookRecord | undefined> {
    return this.#db.use(async (session) => {
      const row = await session.one<WebhookRow>(sql, values);
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
    return this.#db.untilDone((session) => this.#pending(session));
  }

  adopt(): Promise<PendingWebhook[]> {
    return this.#db.use(async (session) => {
      // Named, as a condition on another table is not looked at again for a row that somebody else has just changed.
      const gone = await session.all<{ id: string }>(
        `SELECT DISTINCT sender_id AS id FROM webhooks WHERE state = 'pending' AND sender_id <> $1 AND ${isGone("sender_id")}`,
        [this.#selfId],
      );
      for (let count = gone.length === 0 ? 0 : ADOPTED_AT_ONCE; count === ADOPTED_AT_ONCE;) {
        count = await session.run(
          `UPDATE webhooks SET sender_id = $1 WHERE id = ANY (ARRAY(
             SELECT id FROM webhooks WHERE state = 'pending' AND sender_id = ANY ($2)
             ORDER BY id LIMIT ${ADOPTED_AT_ONCE} FOR UPDATE SKIP LOCKED))`,
          [this.#selfId, gone.map(({ id }) => id)],
        );
      }
      return this.#pending(session);
    });
  }

  #pending(session: Session): Promise<PendingWebhook[]> {
    return session.all<PendingWebhook>(
      `SELECT ${PENDING} FROM webhooks WHERE state = 'pending' AND sender_id = $1 ORDER BY due_at_ms`,
      [this.#selfId],
    );
  }

  record(webhookId: string, attempt: WebhookTry, outcome: TryOutcome): Promise<void> {
    const dueAtMs = outcome.state === "pending" ? outcome.dueAtMs : null;
    return this.#db.use(async (session) => {
      // The log is a JSON array: the try goes before its last bracket.
      await session.run(
        `UPDATE webhooks SET state = $1, due_at_ms = $2,
           tries = left(tries, -1) || CASE tries WHEN '[]' THEN '' ELSE ',' END || $3 || ']'
         WHERE id = $4 AND state = 'pending' AND sender_id = $5`,
        [outcome.state, dueAtMs, JSON.stringify(attempt), webhookId, this.#selfId],
      );
    });
  }
}
