import { adoptRows } from "../work-division.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import { kept, read, write, type Opened } from "../steps/steps.ts";
import { flag, integer, json, key, nullable, onlyIn, secret, Table, text, type RowOf } from "../steps/table.ts";
import { isOwn, type Tx } from "../steps/tx.ts";

/**
 * `waiting`: its job or batch has not ended. `pending`: to be delivered. `failed`: given up. States only move forward, in this order.
 */
export const WEBHOOK_STATES = ["waiting", "pending", "delivered", "failed"] as const;
export type WebhookState = (typeof WEBHOOK_STATES)[number];

/** One try. `status`: HTTP status of the answer; null without an answer, and `error` says why. */
export interface DeliveryAttempt {
  readonly atMs: number;
  readonly status: number | null;
  readonly error: string | null;
}

export type AttemptOutcome =
  | { readonly state: "delivered" | "failed" }
  | { readonly state: "pending"; readonly dueAtMs: number };

/**
 * The outbox of webhooks. The submission of a job or batch stores its webhook; the commit of its end makes it `pending`, so that a crash
 * after the commit loses none.
 */
export const webhookTable = new Table(
  "webhooks",
  {
    /** Also the `webhook-id` header of every try: receivers recognise repeats by it. */
    id: key("PRIMARY KEY"),
    accountId: key({ sqlite: "REFERENCES accounts (id)" }),
    subjectKind: text<"job" | "batch">("CHECK (subject_kind IN ('job', 'batch'))"),
    subjectId: key(),
    url: text(),
    /** `whsec_` and base64. It signs every try, so a hash would not do. */
    secret: secret(),
    /** True if the coordinator made the secret: the answer to the submission then shows it. */
    isSecretGenerated: flag(),
    state: text<WebhookState>("DEFAULT 'waiting' CHECK (state IN ('waiting', 'pending', 'delivered', 'failed'))"),
    /** When its job or batch ended; null while it waits. */
    endedAtMs: nullable(integer()),
    /** When the next try is due. */
    dueAtMs: nullable(integer()),
    /** Oldest first. */
    tries: json<readonly DeliveryAttempt[]>("DEFAULT '[]'"),
    /** The coordinator that delivers it: the one that stored the end of its job or batch. */
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

/** Columns that a submission gives. */
export const SUBMITTED_WEBHOOK_COLUMNS = ["id", "url", "secret", "isSecretGenerated"] as const;
/** Stored with the job or batch whose end it reports. */
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

  /** All that this coordinator is to deliver, in order of their due time. */
  pending: kept(read(pending)),

  /**
   * Takes over what coordinators were to deliver that are gone. Resolves with all that are this one's from now on, which it may deliver
   * already: the answer that told of them may have been lost.
   */
  adopt: read(async (tx) => {
    await adoptRows(tx, "webhooks", "sender_id", "state = 'pending'");
    return pending(tx);
  }),

  /** A webhook that this coordinator is to deliver; undefined when it was delivered, or is another's by now. */
  toDeliver: read((tx, id: string) => webhookTable.row<StoredWebhook>(tx, `${SELECT} AND ${isOwnPending(tx)}`, { id })),

  /**
   * Adds a try to the log of a webhook that this coordinator is to deliver. Does nothing to another one. While nothing can be stored it is
   * refused, and the webhook is delivered again later: receivers recognise repeats.
   */
  record: write(async (tx, id: string, attempt: DeliveryAttempt, outcome: AttemptOutcome): Promise<void> => {
    // The log is a JSON array: the try goes before its last bracket.
    const sql = `UPDATE webhooks SET state = @state, due_at_ms = @dueAtMs,
      tries = substr(tries, 1, length(tries) - 1) || CASE tries WHEN '[]' THEN '' ELSE ',' END || @attempt || ']'
      WHERE id = @id AND ${isOwnPending(tx)}`;
    await tx.run(sql, { id, attempt: JSON.stringify(attempt), ...outcome });
  }),
};

/** Only this thread has the key of the secrets. */
export function unsealing(stored: Opened<typeof webhookSteps>, secrets: Pick<SecretBox, "unseal">) {
  /** `secret` null: the key that it was encrypted with is lost. */
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

export type WebhookStore = ReturnType<typeof unsealing>;
export type WebhookRecord = NonNullable<Awaited<ReturnType<WebhookStore["get"]>>>;
