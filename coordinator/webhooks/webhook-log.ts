import type { WebhookState, WebhookStore, WebhookTry } from "../store/jobs/webhooks.ts";

/** Only the newest tries are shown. */
const SHOWN_TRIES = 10;

/** A webhook as its owner sees it, without its secret. */
export interface WebhookLog {
  readonly url: string;
  readonly state: WebhookState;
  /** The newest ones, oldest first. */
  readonly tries: readonly WebhookTry[];
}

/** The delivery log of a webhook; null if the job or batch has none. */
export async function readWebhookLog(
  store: Pick<WebhookStore, "get">,
  webhookId: string | null,
): Promise<WebhookLog | null> {
  const webhook = webhookId === null ? undefined : await store.get(webhookId);
  if (webhook === undefined) return null;
  const { url, state, tries } = webhook;
  return { url, state, tries: tries.slice(-SHOWN_TRIES) };
}

/** The secret of a webhook if the coordinator made it; null if the client sent its own. Only for the answer to a submission. */
export async function readGeneratedSecret(
  store: Pick<WebhookStore, "get">,
  webhookId: string | null,
): Promise<string | null> {
  const webhook = webhookId === null ? undefined : await store.get(webhookId);
  return webhook?.isSecretGenerated === true ? webhook.secret : null;
}
