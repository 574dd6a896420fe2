import type { WebhookState, WebhookStore, WebhookTry } from "../store/webhook-store.ts";

/** More tries than this are not shown; the newest are. */
const SHOWN_TRIES = 10;

/** A webhook as its owner sees it, without its secret. */
export interface WebhookLog {
  readonly url: string;
  readonly state: WebhookState;
  /** The last ones, oldest first. */
  readonly tries: readonly WebhookTry[];
}

/** The delivery log of a job's or batch's webhook; null where there is none. */
export async function readWebhookLog(
  store: Pick<WebhookStore, "get">,
  webhookId: string | null,
): Promise<WebhookLog | null> {
  const webhook = webhookId === null ? undefined : await store.get(webhookId);
  if (webhook === undefined) return null;
  const { url, state, tries } = webhook;
  return { url, state, tries: tries.slice(-SHOWN_TRIES) };
}

/** The secret that we made for a webhook; null where the client sent its own. For the answer to a submission only. */
export async function readGeneratedSecret(
  store: Pick<WebhookStore, "get">,
  webhookId: string | null,
): Promise<string | null> {
  const webhook = webhookId === null ? undefined : await store.get(webhookId);
  return webhook?.isSecretGenerated === true ? webhook.secret : null;
}
