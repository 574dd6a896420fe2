import { Webhook } from "standardwebhooks";
import type { Clock, Timer } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import { counter, histogram } from "../../shared/metrics.ts";
import type { PendingWebhook, WebhookRecord, WebhookStore, WebhookTry } from "../store/jobs/webhooks.ts";
import { DeliveryQueue } from "./delivery-queue.ts";
import { AddressRefusedError, postWebhook } from "./post-webhook.ts";
import type { ResolveHostUntil } from "./resolve-host.ts";
import { outcomeOf } from "./retry-schedule.ts";

export interface WebhookSenderDeps {
  readonly store: WebhookStore;
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn" | "error">;
  /** The body that reports the end of the job or batch; the same for every try. */
  readonly payload: (webhook: WebhookRecord) => Promise<string>;
  readonly resolveHost: ResolveHostUntil;
  /** 0 (included) to 1 (excluded). */
  readonly random: () => number;
  readonly options: {
    /** Also send to private addresses and over http. */
    readonly allowPrivate: boolean;
    /** Time between the first and the second try; `retry-schedule.ts` has the later ones. */
    readonly firstRetryMs: number;
  };
}

/** Longest time of a try; after that it is tried again. */
export const MAX_TRY_MS = 15_000;
/** Pause after a fault of the coordinator, such as storage; it does not count as a try. */
const FAULT_PAUSE_MS = 60_000;
const MAX_IN_ALL = 32;
const MAX_PER_ACCOUNT = 4;
const MS_PER_S = 1_000;
const DELIVERY_BOUNDS_S = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 3_600, 21_600, 86_400];

/**
 * Delivers the outbox: posts every `pending` webhook until its receiver accepts it. Memory holds only the time of the next try; after
 * a crash `start` reads the outbox again, so a delivery may be repeated (with the same id) but not lost.
 */
export class WebhookSender {
  readonly #tried = counter(
    "atoll_webhook_tries_total",
    "Tries to deliver a webhook, by their result: delivered, refused (another status), unreachable",
    ["result"],
  );
  readonly #gaveUp = counter("atoll_webhooks_given_up_total", "Webhooks that were given up");
  readonly #delivery = histogram(
    "atoll_webhook_delivery_seconds",
    "From the end of the job or batch until its receiver took the webhook, with all tries",
    DELIVERY_BOUNDS_S,
  );
  readonly metrics = [this.#tried, this.#gaveUp, this.#delivery];
  readonly #deps: WebhookSenderDeps;
  readonly #queue = new DeliveryQueue(MAX_IN_ALL, MAX_PER_ACCOUNT);
  /** Every webhook that is scheduled, due or in progress; with its timer while it is scheduled. */
  readonly #known = new Map<string, Timer | null>();
  readonly #tries = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  constructor(deps: WebhookSenderDeps) {
    this.#deps = deps;
  }

  /** Reads the outbox and schedules what is to be delivered. */
  async start(): Promise<void> {
    for (const webhook of await this.#deps.store.pending()) this.#take(webhook);
  }

  /** Schedules what coordinators were to deliver that are gone. May be called again. */
  async takeOver(): Promise<void> {
    for (const webhook of await this.#deps.store.adopt()) this.#take(webhook);
  }

  /** Webhooks that wait for a try, or are being tried. */
  get pendingCount(): number {
    return this.#known.size;
  }

  /** Adds a webhook that is due now. */
  add(id: string, accountId: string): void {
    this.#take({ id, accountId, dueAtMs: this.#deps.clock.now() });
  }

  /** Aborts the tries in progress; they are repeated after the next start. */
  async close(): Promise<void> {
    this.#stop.abort();
    for (const timer of this.#known.values()) timer?.cancel();
    await Promise.all(this.#tries);
  }

  #take(webhook: PendingWebhook): void {
    if (!this.#known.has(webhook.id)) this.#schedule(webhook);
  }

  #schedule({ id, accountId, dueAtMs }: PendingWebhook): void {
    if (this.#stop.signal.aborted) return;
    const delayMs = dueAtMs - this.#deps.clock.now();
    const becomeDue = (): void => {
      this.#known.set(id, null);
      this.#queue.push(accountId, id);
      this.#pump();
    };
    if (delayMs <= 0) becomeDue();
    else this.#known.set(id, this.#deps.clock.schedule(delayMs, becomeDue));
  }

  #pump(): void {
    for (let next = this.#queue.take(); next !== undefined; next = this.#queue.take()) {
      const { id, accountId, release } = next;
      const trying = this.#tryAndPlan(id, accountId).finally(() => {
        this.#tries.delete(trying);
        release();
        if (!this.#stop.signal.aborted) this.#pump();
      });
      this.#tries.add(trying);
    }
  }

  async #tryAndPlan(id: string, accountId: string): Promise<void> {
    let dueAtMs: number | null;
    try {
      dueAtMs = await this.#try(id);
    } catch (error) {
      if (!this.#stop.signal.aborted)
        this.#deps.log.error({ err: error, webhook_id: id, account_id: accountId }, "Could not try a webhook");
      dueAtMs = this.#deps.clock.now() + FAULT_PAUSE_MS;
    }
    if (dueAtMs === null) this.#known.delete(id);
    else this.#schedule({ id, accountId, dueAtMs });
  }

  /** Returns the time of the next try; null if there is none. */
  async #try(id: string): Promise<number | null> {
    const { store, clock, log, options, random } = this.#deps;
    const webhook = await store.toDeliver(id);
    if (webhook === undefined) return null;
    const atMs = clock.now();
    const { secret } = webhook;
    if (secret === null) {
      // The same at every try.
      await store.record(id, { atMs, status: null, error: "its secret cannot be read" }, { state: "failed" });
      log.warn(
        { webhook_id: id, account_id: webhook.accountId },
        "Gave up a webhook: its secret was encrypted with another webhooks.key",
      );
      return null;
    }
    const answer = await this.#post({ ...webhook, secret }, await this.#deps.payload(webhook), atMs);
    // Aborted by close(): what the receiver did is unknown, so it is not recorded.
    if (answer.status === null && this.#stop.signal.aborted) return null;
    const tries = webhook.tries.length + 1;
    const outcome = outcomeOf({
      status: answer.status,
      tries,
      endedAtMs: webhook.endedAtMs ?? atMs,
      nowMs: clock.now(),
      firstRetryMs: options.firstRetryMs,
      random,
    });
    await store.record(id, { atMs, ...answer }, outcome);
    const isDelivered = outcome.state === "delivered";
    this.#tried.add([isDelivered ? "delivered" : answer.status === null ? "unreachable" : "refused"]);
    if (isDelivered) this.#delivery.observe([], (clock.now() - (webhook.endedAtMs ?? atMs)) / MS_PER_S);
    if (outcome.state === "failed") {
      this.#gaveUp.add([]);
      const ids = { webhook_id: id, account_id: webhook.accountId, [`${webhook.subjectKind}_id`]: webhook.subjectId };
      log.warn({ ...ids, tries, ...answer }, "Gave up a webhook");
    }
    return outcome.state === "pending" ? outcome.dueAtMs : null;
  }

  async #post(webhook: ReadableWebhook, body: string, atMs: number): Promise<Omit<WebhookTry, "atMs">> {
    const { clock, options, resolveHost } = this.#deps;
    const tooLong = new AbortController();
    const limit = clock.schedule(MAX_TRY_MS, () => tooLong.abort());
    try {
      const status = await postWebhook({
        url: webhook.url,
        headers: signedHeaders(webhook, body, atMs),
        body,
        signal: AbortSignal.any([tooLong.signal, this.#stop.signal]),
        allowPrivate: options.allowPrivate,
        resolveHost,
      });
      return { status, error: null };
    } catch (error) {
      const isLate = tooLong.signal.aborted;
      return { status: null, error: isLate ? `no answer within ${MAX_TRY_MS / MS_PER_S} s` : describe(error) };
    } finally {
      limit.cancel();
    }
  }
}

type ReadableWebhook = Pick<WebhookRecord, "id" | "url"> & { readonly secret: string };

/** Source: Standard Webhooks, "Webhook headers". */
function signedHeaders({ id, secret }: ReadableWebhook, body: string, atMs: number): Record<string, string> {
  const at = new Date(atMs);
  return {
    "content-type": "application/json",
    "user-agent": "Atoll-Webhooks",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(atMs / MS_PER_S)),
    "webhook-signature": new Webhook(secret).sign(id, at, body),
  };
}

/** The failure as its owner sees it. Node's messages contain the address; the code does not. */
function describe(error: unknown): string {
  if (error instanceof AddressRefusedError) return error.message;
  const code = (error as NodeJS.ErrnoException).code;
  return typeof code === "string" ? code : "the connection failed";
}
