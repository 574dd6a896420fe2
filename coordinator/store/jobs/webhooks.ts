import { adoptRows } from "../work-division.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import { kept, read, write, type Opened } from "../steps/steps.ts";
import { flag, integer, json, key, named, nullable, onlyIn, secret, Table, text, type RowOf } from "../steps/table.ts";
import { isOwn, type Tx } from "../steps/tx.ts";

/** States in order. `waiting`: the job or batch has not ended. `pending`: due for delivery. `failed`: abandoned. */
export const WEBHOOK_STATES = ["waiting", "pending", "delivered", "failed"] as const;
export type WebhookState = (typeof WEBHOOK_STATES)[number];

/** A delivery attempt. `status`: HTTP status of the response; null if there was none, for the reason in `error`. */
export interface DeliveryAttempt {
  readonly atMs: number;
  readonly status: number | null;
  readonly error: string | null;
}

export type AttemptOutcome =
  | { readonly state: "delivered" | "failed" }
  | { readonly state: "pending"; readonly dueAtMs: number };

/**
 * Outbox of webhooks. The submission of a job or batch stores its webhook; the commit of its end makes the webhook
 * `pending`, so that a crash after the commit does not lose it.
 */
export const webhookTable = new Table(
  "webhooks",
  {
    /** Id sent in the header `webhook-id`, by which receivers detect repeats. */
    id: key("PRIMARY KEY"),
    accountId: key({ sqlite: "REFERENCES accounts (id)" }),
    subjectKind: text<"job" | "batch">("CHECK (subject_kind IN ('job', 'batch'))"),
    subjectId: key(),
    url: text(),
    /** Signing key, as `whsec_` and base64. Every attempt needs the key itself, not a hash. */
    secret: secret(),
    /** Whether the coordinator generated the secret; the response to the submission then shows it. */
    isSecretGenerated: flag(),
    state: text<WebhookState>("DEFAULT 'waiting' CHECK (state IN ('waiting', 'pending', 'delivered', 'failed'))"),
    /** Time when the job or batch ended; null while it has not. */
    endedAtMs: nullable(integer()),
    /** Time of the next delivery attempt; null if none is planned. */
    dueAtMs: nullable(integer()),
    /** Delivery attempts, oldest first. */
    attempts: named("tries", json<readonly DeliveryAttempt[]>("DEFAULT '[]'")),
    /** Id of the coordinator that delivers the webhook. */
    senderId: onlyIn("postgres", key("DEFAULT ''")),
  },
  {
    indexes: [
      {
        sqlite: "CREATE INDEX webhooks_pending ON webhooks (due_at_ms) WHERE state = 'pending'",
        postgres: "CREATE INDEX webhooks_pending ON webhooks (sender_id, due_at_ms) WHERE state = 'pending'",
      },
      "CREATE INDEX webhooks_ended ON webhooks (ended_at_ms) WHERE state IN ('delivered', 'failed')",
      "CREATE INDEX webhooks_by_account ON webhooks (account_id)",
      { sqlite: "CREATE INDEX webhooks_in_clear ON webhooks (id) WHERE secret GLOB 'whsec_*'" },
    ],
  },
);

type WebhookRow = RowOf<typeof webhookTable>;

export const SUBMITTED_WEBHOOK_COLUMNS = ["id", "url", "secret", "isSecretGenerated"] as const;
export type NewWebhook = Pick<WebhookRow, (typeof SUBMITTED_WEBHOOK_COLUMNS)[number]>;

type StoredWebhook = Omit<WebhookRow, "dueAtMs" | "senderId">;
export type PendingWebhook = Pick<WebhookRow, "id" | "accountId"> & { readonly dueAtMs: number };

const SELECT = `SELECT ${webhookTable.columnsBut("dueAtMs", "senderId")} FROM webhooks WHERE id = @id`;
const isOwnPending = (tx: Tx): string => `state = 'pending' AND ${isOwn(tx, "sender_id")}`;

const pending = (tx: Tx): Promise<PendingWebhook[]> =>
  tx.all<PendingWebhook>(
    `SELECT ${webhookTable.columns("id", "accountId", "dueAtMs")} FROM webhooks WHERE ${isOwnPending(tx)} ORDER BY due_at_ms`,
  );

export const webhookSteps = {
  get: read((tx, id: string) => webhookTable.row<StoredWebhook>(tx, SELECT, { id })),

  /** Returns the webhooks that this coordinator delivers, in order of their due time. */
  pending: kept(read(pending)),

  /**
   * Adopts the pending webhooks of dead coordinators. Resolves with all pending webhooks of this coordinator, because
   * the reply to a commit that made some of them due may have been lost.
   */
  adopt: read(async (tx) => {
    await adoptRows(tx, "webhooks", "sender_id", "state = 'pending'");
    return pending(tx);
  }),

  /** Returns a pending webhook; undefined if this coordinator does not (or no longer) deliver it. */
  toDeliver: read((tx, id: string) => webhookTable.row<StoredWebhook>(tx, `${SELECT} AND ${isOwnPending(tx)}`, { id })),

  /**
   * Records a delivery attempt and its outcome. No-op for a webhook that this coordinator does not deliver. Rejects
   * while the store is read-only; the webhook is then delivered again later, and receivers detect the repeat.
   */
  record: write(async (tx, id: string, attempt: DeliveryAttempt, outcome: AttemptOutcome): Promise<void> => {
    // `tries` is a JSON array: the statement inserts the attempt before the last bracket.
    const sql = `UPDATE webhooks SET state = @state, due_at_ms = @dueAtMs,
      tries = substr(tries, 1, length(tries) - 1) || CASE tries WHEN '[]' THEN '' ELSE ',' END || @attempt || ']'
      WHERE id = @id AND ${isOwnPending(tx)}`;
    await tx.run(sql, { id, attempt: JSON.stringify(attempt), ...outcome });
  }),
};

/** Opens the store. It decrypts secrets here because only the main thread has the key. */
export function openWebhookStore(stored: Opened<typeof webhookSteps>, secrets: Pick<SecretBox, "unseal">) {
  /** Decrypts the secret of a webhook, to null if the encryption key is lost. */
  const unsealed = async (found: Promise<StoredWebhook | undefined>) => {
    const webhook = await found;
    return webhook && { ...webhook, secret: secrets.unseal(webhook.secret) };
  };
  return {
    ...stored,
    get: (id: string) => unsealed(stored.get(id)),
    toDeliver: (id: string) => unsealed(stored.toDeliver(id)),
  };
}

export type WebhookStore = ReturnType<typeof openWebhookStore>;
export type WebhookRecord = NonNullable<Awaited<ReturnType<WebhookStore["get"]>>>;
