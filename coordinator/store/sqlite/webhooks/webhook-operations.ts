import type Database from "better-sqlite3";
import type { NewWebhook, TryOutcome, WebhookTry } from "../../webhook-store.ts";
import type { SecretBox } from "../../secret-box.ts";

export interface WebhookOperations {
  recordWebhookTry(args: { webhookId: string; attempt: WebhookTry; outcome: TryOutcome }): void;
}

export function webhookOperations(db: Database.Database): WebhookOperations {
  const update = db.prepare<[string, number | null, string, string]>(
    `UPDATE webhooks SET state = ?, due_at_ms = ?, tries = json_insert(tries, '$[#]', json(?))
     WHERE id = ? AND state = 'pending'`,
  );
  return {
    recordWebhookTry({ webhookId, attempt, outcome }) {
      const dueAtMs = outcome.state === "pending" ? outcome.dueAtMs : null;
      update.run(outcome.state, dueAtMs, JSON.stringify(attempt), webhookId);
    },
  };
}

/** Seals the secrets that earlier versions stored in clear. An index has only those, so that this costs nothing once it is done. */
export function sealSecretsInClear(db: Database.Database, secrets: Pick<SecretBox, "seal">): void {
  const select = db.prepare<[], { id: string; secret: string }>(
    "SELECT id, secret FROM webhooks WHERE secret GLOB 'whsec_*'",
  );
  const update = db.prepare<[string, string]>("UPDATE webhooks SET secret = ? WHERE id = ?");
  const sealAll = db.transaction(() => {
    for (const { id, secret } of select.all()) update.run(secrets.seal(secret), id);
  });
  if (select.get() !== undefined) sealAll.immediate();
}

type Subject = { readonly kind: "job" | "batch"; readonly id: string };

/** Stores the webhook of a submission. */
export function prepareInsertWebhook(
  db: Database.Database,
): (webhook: NewWebhook, accountId: string, subject: Subject) => void {
  const insert = db.prepare(
    `INSERT INTO webhooks (id, account_id, subject_kind, subject_id, url, secret, is_secret_generated)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  return ({ id, url, secret, isSecretGenerated }, accountId, subject) => {
    insert.run(id, accountId, subject.kind, subject.id, url, secret, isSecretGenerated ? 1 : 0);
  };
}

/** What the UPDATE that ends a job returns. */
export interface EndedJobLinks {
  readonly batchId: string | null;
  readonly webhookId: string | null;
}

/** Completes the batch of an ended job if it was the last, and makes webhooks due. Returns their ids. */
export function prepareFollowUp(db: Database.Database): (ended: EndedJobLinks, atMs: number) => string[] {
  const countDown = db.prepare<[number, string], { completedAtMs: number | null; webhookId: string | null }>(
    `UPDATE batches SET unfinished = unfinished - 1, completed_at_ms = CASE unfinished WHEN 1 THEN ? END
       WHERE id = ? RETURNING completed_at_ms AS completedAtMs, webhook_id AS webhookId`,
  );
  const makeDue = db.prepare<[number, number, string]>(
    "UPDATE webhooks SET state = 'pending', ended_at_ms = ?, due_at_ms = ? WHERE id = ? AND state = 'waiting'",
  );
  return ({ batchId, webhookId }, atMs) => {
    const due = webhookId === null ? [] : [webhookId];
    const batch = batchId === null ? undefined : countDown.get(atMs, batchId);
    if (batch !== undefined && batch.completedAtMs !== null && batch.webhookId !== null) due.push(batch.webhookId);
    for (const id of due) makeDue.run(atMs, atMs, id);
    return due;
  };
}
