/**
 * `waiting`: its job or batch has not ended. `pending`: to be delivered. `failed`: given up. States only move forward, in this order.
 */
export const WEBHOOK_STATES = ["waiting", "pending", "delivered", "failed"] as const;
export type WebhookState = (typeof WEBHOOK_STATES)[number];

/** Stored with the job or batch whose end it reports. */
export interface NewWebhook {
  /** Also the `webhook-id` header of every try: receivers recognise repeats by it. */
  readonly id: string;
  readonly url: string;
  /** `whsec_` and base64. */
  readonly secret: string;
  /** True if the coordinator made the secret: the answer to the submission then shows it. */
  readonly isSecretGenerated: boolean;
}

/** One try. `status`: HTTP status of the answer; null without an answer, and `error` says why. */
export interface WebhookTry {
  readonly atMs: number;
  readonly status: number | null;
  readonly error: string | null;
}

export interface WebhookRecord extends Omit<NewWebhook, "secret"> {
  /** Null if the key that it was encrypted with is lost. */
  readonly secret: string | null;
  readonly accountId: string;
  readonly subject: { readonly kind: "job" | "batch"; readonly id: string };
  readonly state: WebhookState;
  /** When its job or batch ended; null while it waits. */
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

/** Result of a try. */
export type TryOutcome =
  | { readonly state: "delivered" | "failed" }
  | { readonly state: "pending"; readonly dueAtMs: number };

/**
 * The outbox of webhooks. Secrets are encrypted where they are stored: they sign every try, so a hash would not do. The submission of a job or batch stores its webhook; the commit of its end makes it `pending`, so that a
 * crash after the commit loses none.
 */
export interface WebhookStore {
  get(webhookId: string): Promise<WebhookRecord | undefined>;
  /** All that this coordinator is to deliver, in order of their due time. */
  pending(): Promise<PendingWebhook[]>;
  /**
   * Takes over what coordinators were to deliver that are gone; of several who try, one gets each. Each webhook belongs to the coordinator
   * that stored the end of its job or batch. Resolves with all that are this one's from now on, which it may deliver already: the
   * answer that told of them may have been lost.
   */
  adopt(): Promise<PendingWebhook[]>;
  /** A webhook that this coordinator is to deliver; undefined when it was delivered, or is another's by now. */
  toDeliver(webhookId: string): Promise<WebhookRecord | undefined>;
  /** Adds a try to the log of a webhook that this coordinator is to deliver. Does nothing to another one. */
  record(webhookId: string, attempt: WebhookTry, outcome: TryOutcome): Promise<void>;
}
