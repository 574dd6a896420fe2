import type { Clock } from "../shared/clock.ts";
import type { Logger } from "../shared/logger.ts";
import type { CoordinatorConfig } from "./config/resolve-config.ts";
import { webhookPayload } from "./http/schemas/webhook-payload.ts";
import type { Store } from "./store/store.ts";
import { hostResolver } from "./webhooks/resolve-host.ts";
import { WebhookSender } from "./webhooks/webhook-sender.ts";

export interface OpenWebhooksDeps {
  readonly config: Pick<CoordinatorConfig, "webhookAllowPrivate" | "webhookRetryMs">;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
}

export function openWebhooks({ config, store, clock, log }: OpenWebhooksDeps): WebhookSender {
  return new WebhookSender({
    store: store.webhooks,
    clock,
    log,
    payload: webhookPayload(store),
    resolveHost: hostResolver(),
    random: Math.random,
    options: { allowPrivate: config.webhookAllowPrivate, firstRetryMs: config.webhookRetryMs },
  });
}
