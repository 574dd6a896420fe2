import { Webhook } from "standardwebhooks";
import type { Timer } from "../../shared/clock.ts";
import { counter, histogram } from "../../shared/metrics.ts";
import type { Env } from "../env.ts";
import { Pool } from "../quotas/pool.ts";
import type { AttemptOutcome, PendingWebhook, WebhookRecord, WebhookStore } from "../store/jobs/webhooks.ts";
import { AddressRefusedError } from "./outside-request.ts";
import { postWebhook } from "./post-webhook.ts";
import { hostResolver } from "./resolve-host.ts";

/** Maximum duration of a delivery attempt, after which it is aborted and retried. */
export const MAX_ATTEMPT_MS = 15_000;
/** Delay after a fault of the coordinator, such as its storage, which does not count as an attempt. */
const FAULT_DELAY_MS = 60_000;
const MAX_IN_FLIGHT = 32;
const MAX_PER_ACCOUNT = 4;
const MS_PER_S = 1_000;
const DELIVERY_BOUNDS_S = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 3_600, 21_600, 86_400];

/** Time after the end of the job or batch until which attempts are scheduled. */
export const RETRY_FOR_MS = 24 * 3_600_000;
/** Delays after failed attempts, as multiples of the first: 5 s, 30 s, 2 min, 10 min, 30 min, 1 h, 2 h, then 4 h. */
const DELAYS = [1, 6, 24, 120, 360, 720, 1_440, 2_880] as const;
/** Share by which each delay varies at random. */
const JITTER = 0.25;
/** Status 410 Gone, by which a receiver refuses later attempts. */
const GONE = 410;

export type Webhooks = ReturnType<typeof openWebhooks>;

/**
 * Delivers webhooks from the outbox: posts each `pending` webhook until the receiver accepts it. After a crash `start`
 * reads the outbox again, so a delivery may be repeated (with the same id) but not lost.
 * @param payload returns the body that reports the end of the job or batch, the same for every attempt
 */
export function openWebhooks(
  { config, clock, log }: Pick<Env<"webhookAllowPrivate" | "webhookRetryMs">, "config" | "clock" | "log">,
  store: WebhookStore,
  payload: (webhook: WebhookRecord) => Promise<string>,
  resolveHost = hostResolver(),
  random = Math.random,
) {
  const attempts = counter(
    "atoll_webhook_attempts_total",
    "Webhook delivery attempts: `delivered`, `refused` (a status other than 2xx), `unreachable`",
    ["result"],
  );
  const gaveUp = counter(
    "atoll_webhooks_given_up_total",
    "Webhooks that were abandoned after their last delivery attempt",
  );
  const delivery = histogram(
    "atoll_webhook_delivery_seconds",
    "Time from the end of the job or batch to its successful delivery, with all attempts",
    DELIVERY_BOUNDS_S,
  );
  const queue = deliveryQueue(MAX_IN_FLIGHT, MAX_PER_ACCOUNT);
  /** Timers of scheduled webhooks by id; null if the webhook is due or in flight. */
  const known = new Map<string, Timer | null>();
  const inFlight = new Set<Promise<void>>();
  const stop = new AbortController();

  function take(webhook: PendingWebhook): void {
    if (!known.has(webhook.id)) schedule(webhook);
  }

  function schedule({ id, accountId, dueAtMs }: PendingWebhook): void {
    if (stop.signal.aborted) return;
    const delayMs = dueAtMs - clock.now();
    const becomeDue = (): void => {
      known.set(id, null);
      queue.push(accountId, id);
      pump();
    };
    if (delayMs <= 0) becomeDue();
    else known.set(id, clock.schedule(delayMs, becomeDue));
  }

  function pump(): void {
    for (let next = queue.take(); next !== undefined; next = queue.take()) {
      const { id, accountId, release } = next;
      const delivering = deliver(id, accountId).finally(() => {
        inFlight.delete(delivering);
        release();
        if (!stop.signal.aborted) pump();
      });
      inFlight.add(delivering);
    }
  }

  async function deliver(id: string, accountId: string): Promise<void> {
    let dueAtMs: number | null;
    try {
      dueAtMs = await attemptDelivery(id);
    } catch (error) {
      if (!stop.signal.aborted)
        log.error({ err: error, webhook_id: id, account_id: accountId }, "Could not deliver a webhook");
      dueAtMs = clock.now() + FAULT_DELAY_MS;
    }
    if (dueAtMs === null) known.delete(id);
    else schedule({ id, accountId, dueAtMs });
  }

  /** Makes one attempt. Returns the time of the next; null if this was the last attempt. */
  async function attemptDelivery(id: string): Promise<number | null> {
    const webhook = await store.toDeliver(id);
    if (webhook === undefined) return null;
    const atMs = clock.now();
    const { secret, accountId } = webhook;
    const endedAtMs = webhook.endedAtMs ?? atMs;
    const ids = { webhook_id: id, account_id: accountId };
    if (secret === null) {
      await store.record(id, { atMs, status: null, error: "its secret cannot be read" }, { state: "failed" });
      log.warn(ids, "Gave up on a webhook: its secret was encrypted with another webhooks.key");
      return null;
    }
    const result = await post({ ...webhook, secret }, await payload(webhook), atMs);
    const { status } = result;
    // If `close` aborted the attempt, its result is unknown and is not recorded.
    if (status === null && stop.signal.aborted) return null;
    const attemptCount = webhook.attempts.length + 1;
    const times = { endedAtMs, nowMs: clock.now(), firstRetryMs: config.webhookRetryMs };
    const outcome = decideOutcome({ status, attempts: attemptCount, ...times, random });
    await store.record(id, { atMs, ...result }, outcome);
    const isDelivered = outcome.state === "delivered";
    attempts.add([isDelivered ? "delivered" : status === null ? "unreachable" : "refused"]);
    if (isDelivered) delivery.observe([], (clock.now() - endedAtMs) / MS_PER_S);
    if (outcome.state === "failed") {
      gaveUp.add([]);
      log.warn(
        { ...ids, [`${webhook.subjectKind}_id`]: webhook.subjectId, tries: attemptCount, ...result },
        "Gave up on a webhook",
      );
    }
    return outcome.state === "pending" ? outcome.dueAtMs : null;
  }

  async function post(webhook: ReadableWebhook, body: string, atMs: number) {
    const timeout = new AbortController();
    const limit = clock.schedule(MAX_ATTEMPT_MS, () => timeout.abort());
    try {
      const status = await postWebhook({
        url: webhook.url,
        headers: signedHeaders(webhook, body, atMs),
        body,
        signal: AbortSignal.any([timeout.signal, stop.signal]),
        allowPrivate: config.webhookAllowPrivate,
        resolveHost,
      });
      return { status, error: null };
    } catch (error) {
      const isTimeout = timeout.signal.aborted;
      return { status: null, error: isTimeout ? `no response within ${MAX_ATTEMPT_MS / MS_PER_S} s` : describe(error) };
    } finally {
      limit.cancel();
    }
  }

  return {
    metrics: [attempts, gaveUp, delivery],

    /** Number of webhooks that wait for an attempt or have one in flight. */
    get pendingCount(): number {
      return known.size;
    },

    async start(): Promise<void> {
      for (const webhook of await store.pending()) take(webhook);
    },

    /** Adopts and schedules the webhooks of dead coordinators. May be called repeatedly. */
    async adoptUnowned(): Promise<void> {
      for (const webhook of await store.adopt()) take(webhook);
    },

    add: (id: string, accountId: string): void => take({ id, accountId, dueAtMs: clock.now() }),

    /** Aborts the attempts in flight. The next start, or another coordinator, repeats them. */
    async close(): Promise<void> {
      stop.abort();
      for (const timer of known.values()) timer?.cancel();
      await Promise.all(inFlight);
    },
  };
}

/** Returns queues of due deliveries. Accounts take turns, so that slow receivers do not delay other accounts. */
export function deliveryQueue(maxInFlight: number, maxPerAccount: number) {
  const inFlight = new Pool({ all: maxInFlight, account: maxPerAccount });
  /** Non-empty queues by account, in the order of their turns. */
  const queues = new Map<string, string[]>();
  return {
    push(accountId: string, id: string): void {
      const queue = queues.get(accountId);
      if (queue === undefined) queues.set(accountId, [id]);
      else queue.push(id);
    },

    /** Returns the next delivery that may start; undefined if none may. The caller calls `release` after it. */
    take() {
      for (const [accountId, queue] of queues) {
        const [id] = queue;
        if (id === undefined) continue;
        const release = inFlight.take([["all"], ["account", accountId]]);
        if (release === "all") break;
        if (release === "account") continue;
        queue.shift();
        queues.delete(accountId);
        if (queue.length > 0) queues.set(accountId, queue);
        return { accountId, id, release };
      }
      return undefined;
    },
  };
}

/**
 * Decides the outcome of an attempt. A 2xx status delivers the webhook, 410 fails it, and anything else is retried for
 * a day.
 */
export function decideOutcome(facts: {
  /** HTTP status; null if there was no response. */
  readonly status: number | null;
  /** Number of attempts so far, including this one. */
  readonly attempts: number;
  readonly endedAtMs: number;
  readonly nowMs: number;
  readonly firstRetryMs: number;
  readonly random: () => number;
}): AttemptOutcome {
  const { status, attempts, endedAtMs, nowMs, firstRetryMs, random } = facts;
  if (status !== null && status >= 200 && status < 300) return { state: "delivered" };
  if (status === GONE) return { state: "failed" };
  const factor = DELAYS[Math.min(attempts, DELAYS.length) - 1] ?? 1;
  const dueAtMs = nowMs + Math.round(factor * firstRetryMs * (1 - JITTER + 2 * JITTER * random()));
  return dueAtMs > endedAtMs + RETRY_FOR_MS ? { state: "failed" } : { state: "pending", dueAtMs };
}

type ReadableWebhook = Pick<WebhookRecord, "id" | "url"> & { readonly secret: string };

/** Returns the headers of a delivery. Source: Standard Webhooks, "Webhook headers". */
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

/** Describes an error to the owner by its code, because Node's messages contain the address. */
function describe(error: unknown): string {
  if (error instanceof AddressRefusedError) return error.message;
  const code = (error as NodeJS.ErrnoException).code;
  return typeof code === "string" ? code : "the connection failed";
}
