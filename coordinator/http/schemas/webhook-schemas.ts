import { z } from "@hono/zod-openapi";
import { WEBHOOK_STATES } from "../../store/jobs/webhooks.ts";
import { MAX_WEBHOOK_URL_CHARS, type WebhookLog, type WebhookRequest } from "../../webhooks/owned-webhook.ts";
import { presentTime, timeSchema } from "./wire-units.ts";

export const webhookFields = {
  webhook_url: z
    .string()
    .min(1)
    .max(MAX_WEBHOOK_URL_CHARS)
    .optional()
    .describe(
      "URL that receives a signed POST (Standard Webhooks) when the job or batch ends. Must be https and not a private address",
    ),
  webhook_secret: z
    .string()
    .max(200)
    .optional()
    .describe(
      "Secret that signs the POST: `whsec_` and 24 to 64 bytes in base64. Default: a generated secret, which only this response contains",
    ),
};

export const webhookSecretSchema = z
  .string()
  .optional()
  .describe("The generated webhook secret, returned only here and in repeats with the same `Idempotency-Key`");

export const webhookLogSchema = z
  .object({
    url: z.string(),
    state: z
      .enum(WEBHOOK_STATES)
      .describe(
        "`waiting`: the job or batch has not ended. `pending`: it is not delivered yet. `failed`: delivery was abandoned after a day or after a 410",
      ),
    attempts: z
      .array(
        z.object({
          at: timeSchema,
          status: z.int().nullable().describe("HTTP status; null if the receiver sent none"),
          error: z.string().nullable(),
        }),
      )
      .describe("The ten most recent delivery attempts, oldest first"),
  })
  .openapi("WebhookLog");

/** Returns the webhook of a request, if any. A secret without a URL gives an empty URL, which the service refuses. */
export function webhookOf(body: z.infer<z.ZodObject<typeof webhookFields>>): WebhookRequest | undefined {
  const { webhook_url: url, webhook_secret: secret } = body;
  if (url === undefined && secret === undefined) return undefined;
  return { url: url ?? "", secret: secret ?? null };
}

export function presentWebhook(webhook: WebhookLog | null): z.infer<typeof webhookLogSchema> | null {
  if (webhook === null) return null;
  const { url, state } = webhook;
  const attempts = webhook.attempts.map(({ atMs, status, error }) => ({ at: presentTime(atMs), status, error }));
  return { url, state, attempts };
}
