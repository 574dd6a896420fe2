import { Distribution } from "../../shared/distribution.ts";
import { Tally } from "../../shared/tally.ts";
import type { TryOutcome, WebhookTry } from "../store/webhooks.ts";

const MS_PER_S = 1_000;
const DELIVERY_BOUNDS_S = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 3_600, 21_600, 86_400];

/** What deliveries are measured by. */
export class WebhookFigures {
  readonly tries = new Tally({
    name: "atoll_webhook_tries_total",
    help: "Tries to deliver a webhook, by their result: delivered, refused (another status), unreachable",
    labelNames: ["result"],
  });
  readonly gaveUp = new Tally({
    name: "atoll_webhooks_given_up_total",
    help: "Webhooks that were given up",
    labelNames: [],
  });
  readonly delivery = new Distribution(
    {
      name: "atoll_webhook_delivery_seconds",
      help: "From the end of the job or batch until its receiver took the webhook, with all tries",
      labelNames: [],
    },
    DELIVERY_BOUNDS_S,
  );

  /** @param endedMs since the end of the job or batch. */
  noteTry({ status }: Pick<WebhookTry, "status">, { state }: TryOutcome, endedMs: number): void {
    this.tries.add([state === "delivered" ? "delivered" : status === null ? "unreachable" : "refused"]);
    if (state === "delivered") this.delivery.observe([], endedMs / MS_PER_S);
    if (state === "failed") this.gaveUp.add([]);
  }
}
