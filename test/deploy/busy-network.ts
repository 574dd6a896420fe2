import { randomUUID } from "node:crypto";
import { runFrames } from "../support/network/attempt-frames.ts";
import { FakeIsland } from "../support/network/fake-island.ts";
import { call, collect, jobEvents, until } from "../support/http/http.ts";
import { TestCoordinator } from "../support/network/test-coordinator.ts";
import { WebhookReceiver } from "../support/servers/webhook-receiver.ts";

const METRICS_TOKEN = "a-long-random-text";

/** A coordinator with protected metrics, and one Island. Each {@link work} changes all metrics. */
export class BusyNetwork implements AsyncDisposable {
  readonly coordinator: TestCoordinator;
  readonly #island: FakeIsland;
  readonly #receiver: WebhookReceiver;
  readonly #key: string;
  #rounds = 0;

  private constructor(coordinator: TestCoordinator, island: FakeIsland, receiver: WebhookReceiver, key: string) {
    this.coordinator = coordinator;
    this.#island = island;
    this.#receiver = receiver;
    this.#key = key;
  }

  static async open(): Promise<BusyNetwork> {
    const env = { ATOLL_METRICS_TOKEN: METRICS_TOKEN };
    const coordinator = await TestCoordinator.open({ webhookAllowPrivate: true }, env);
    const { key, islandToken } = await coordinator.createAccount("client@example.com", 1_000_000);
    const island = await FakeIsland.join(coordinator.url, islandToken, { hostId: randomUUID(), slots: 1 });
    return new BusyNetwork(coordinator, island, await WebhookReceiver.start(), key);
  }

  /** Value of `metrics_token`. */
  get token(): string {
    return METRICS_TOKEN;
  }

  /**
   * Runs a job with a refusal, a stream and a webhook, a job that fails, a chat, a rejected request and a rejected
   * Island.
   */
  async work(): Promise<void> {
    const { url } = this.coordinator;
    const island = this.#island;
    const webhook_url = `http://127.0.0.1:${this.#receiver.port}/`;
    this.#rounds += 1;
    const job = { workload: "tiny-chat", input: { prompt: "Hi" } };
    await call(url, this.#key, "POST", "/jobs", { ...job, webhook_url });
    const first = await island.next("assign");
    const { jobId, attempt } = first;
    island.send({ type: "refused", jobId, attempt, code: "island_refused", message: "not now" });
    const second = await island.next("assign");
    const events = collect(jobEvents(url, this.#key, jobId));
    island.send(...runFrames(second, "a", "b"));
    await events;
    await call(url, this.#key, "POST", "/jobs", job);
    const third = await island.next("assign");
    island.send({ type: "failed", ...idOf(third), seq: 1, code: "invalid_input", message: "no", retryable: false });
    await island.next("ack", (ack) => ack.jobId === third.jobId);
    const messages = [{ role: "user", content: "Hi" }];
    const completion = call(url, this.#key, "POST", "/chat/completions", { model: "tiny-chat", messages });
    const fourth = await island.next("assign");
    island.send(...runFrames(fourth, "c"));
    await completion;
    await call(url, this.#key, "GET", "/jobs/unknown");
    await FakeIsland.dial(url, "it_unknown").catch(() => undefined);
    const delivered = `atoll_webhook_delivery_seconds_count ${this.#rounds}\n`;
    await until(
      () => this.scrape(),
      (text) => text.includes(delivered),
      "the webhook was delivered",
    );
  }

  async scrape(): Promise<string> {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    return (await fetch(`${this.coordinator.url}/api/v1/metrics`, { headers })).text();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#island.socket.terminate();
    await this.coordinator[Symbol.asyncDispose]();
    await this.#receiver[Symbol.asyncDispose]();
  }
}

function idOf({ jobId, attempt }: { readonly jobId: string; readonly attempt: number }) {
  return { jobId, attempt };
}
