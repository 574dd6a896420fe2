/**
 * `waiting`: what it tells of has not ended. `pending`: to be delivered. `failed`: given up. A state moves on only, in this order.
 */
export const WEBHOOK_STATES = ["waiting", "pending", "delivered", "failed"] as const;
export type WebhookState = (typeof WEBHOOK_STATES)[number];

/** Stored with the job or batch whose end it tells of. */
export interface NewWebhook {
  /** Also the `webhook-id` of every try, by which a receiver tells a repeat. */
  readonly id: string;
  readonly url: string;
  /** `whsec_` and base64. It signs, so it cannot be stored as a hash. */
  readonly secret: string;
  /** Ours rather than the client's: the answer to the submission shows it. */
  readonly isSecretGenerated: boolean;
}

/** One try. `status`: what the receiver answered; null when it did not, and `error` says why. */
export interface WebhookTry {
  readonly atMs: number;
  readonly status: number | null;
  readonly error: string | null;
}

export interface WebhookRecord extends NewWebhook {
  readonly accountId: string;
  readonly subject: { readonly kind: "job" | "batch"; readonly id: string };
  readonly state: WebhookState;
  /** When what it tells of ended; null while it waits. */
  readonly endedAtMs: number | null;
  /** Oldest first. */
  readonly tries: readonly WebhookTry[];
}

export interface PendingWebhook {
  readonly id: string;
  readonly accountId: string;
  /** When the next try is due. */
  readonly dueAtMs: number;
}

/** What a try came to. */
export type TryOutcome =
  | { readonly state: "delivered" | "failed" }
  | { readonly state: "pending"; readonly dueAtMs: number };

/**
 * The outbox of webhooks. They are made by the submission of a job or batch, and become `pending` in the commit of its end, so
 * that none is forgotten whatever fails after.
 */
export interface WebhookStore {
  get(webhookId: string): Promise<WebhookRecord | undefined>;
  /** All that are to be delivered, the one due first first. */
  pending(): Promise<PendingWebhook[]>;
  /** Adds a try to the log of a pending webhook; one in another state is left as it is. */
  record(webhookId: string, attempt: WebhookTry, outcome: TryOutcome): Promise<void>;
}
