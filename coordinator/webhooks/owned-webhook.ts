import { randomBytes } from "node:crypto";
import { type FieldError, ValidationError } from "../../shared/errors.ts";
import { newId } from "../../shared/ids.ts";
import type { DeliveryAttempt, NewWebhook, WebhookRecord, WebhookStore } from "../store/jobs/webhooks.ts";
import { outsideUrlProblem } from "./outside-request.ts";

/** The receiver that is notified when a job or batch ends. */
export interface WebhookRequest {
  readonly url: string;
  /** Signing secret of the client; null if the coordinator must generate one. */
  readonly secret: string | null;
}

export const MAX_WEBHOOK_URL_CHARS = 2_048;
const SECRET_PREFIX = "whsec_";
/** Length of secrets. Source: Standard Webhooks, "Signature scheme". */
const SECRET_BYTES = { min: 24, max: 64, generated: 32 };

/**
 * Creates the webhook to store with a job or batch; null if the client requested none.
 * @throws {ValidationError} naming `webhook_url` or `webhook_secret`.
 */
export function newWebhook(
  request: WebhookRequest | undefined,
  { allowPrivate, nowMs }: { readonly allowPrivate: boolean; readonly nowMs: number },
): NewWebhook | null {
  if (request === undefined) return null;
  const errors: FieldError[] = [];
  const { url, secret } = request;
  const parsed = url.length > MAX_WEBHOOK_URL_CHARS ? null : URL.parse(url);
  const lengthMessage = `must be a URL of at most ${MAX_WEBHOOK_URL_CHARS} characters`;
  const refusal = parsed === null ? lengthMessage : outsideUrlProblem(parsed, allowPrivate);
  if (refusal !== null) errors.push({ path: "webhook_url", message: refusal });
  if (secret !== null && !isSecret(secret)) {
    const { min, max } = SECRET_BYTES;
    const message = `must be "${SECRET_PREFIX}" followed by base64 of ${min} to ${max} bytes`;
    errors.push({ path: "webhook_secret", message });
  }
  if (errors.length > 0) throw new ValidationError(errors);
  return {
    id: newId("msg", nowMs),
    url,
    secret: secret ?? `${SECRET_PREFIX}${randomBytes(SECRET_BYTES.generated).toString("base64")}`,
    isSecretGenerated: secret === null,
  };
}

function isSecret(secret: string): boolean {
  const encoded = secret.slice(SECRET_PREFIX.length);
  const bytes = Buffer.from(encoded, "base64");
  // Buffer skips characters that are not base64, so only valid base64 is encoded back unchanged.
  return (
    secret.startsWith(SECRET_PREFIX) &&
    bytes.toString("base64") === encoded &&
    bytes.length >= SECRET_BYTES.min &&
    bytes.length <= SECRET_BYTES.max
  );
}

/** Number of delivery attempts that an owner sees. */
const SHOWN_ATTEMPTS = 10;

export interface WebhookLog extends Pick<WebhookRecord, "url" | "state"> {
  /** The last delivery attempts, oldest first. */
  readonly attempts: readonly DeliveryAttempt[];
}

/** Returns the delivery log of a webhook; null if the job or batch has none. */
export async function readWebhookLog(
  store: Pick<WebhookStore, "get">,
  webhookId: string | null,
): Promise<WebhookLog | null> {
  const webhook = webhookId === null ? undefined : await store.get(webhookId);
  if (webhook === undefined) return null;
  const { url, state, attempts } = webhook;
  return { url, state, attempts: attempts.slice(-SHOWN_ATTEMPTS) };
}

/**
 * Returns the secret if the coordinator generated it, otherwise null. Only the response to the submission may show it.
 */
export async function readGeneratedSecret(
  store: Pick<WebhookStore, "get">,
  webhookId: string | null,
): Promise<string | null> {
  const webhook = webhookId === null ? undefined : await store.get(webhookId);
  return webhook?.isSecretGenerated === true ? webhook.secret : null;
}
