import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import type { FromIsland } from "../../../shared/protocol/from-island.ts";
import { finishedFrame, outputFrame } from "../../support/network/attempt-frames.ts";
import { endUncharged } from "../store/contract/store-builders.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call, until } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";
import { verifySignature, WebhookReceiver } from "../../support/servers/webhook-receiver.ts";

const OWN_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

let coordinator: TestCoordinator;
let receiver: WebhookReceiver;
let account: { id: string; key: string; islandToken: string };

beforeEach(async () => {
  receiver = await WebhookReceiver.start();
  coordinator = await TestCoordinator.open({ webhookAllowPrivate: "true", webhookRetryS: "0.02" });
  account = await coordinator.createAccount("client@example.com");
  await coordinator.withStore((store) => store.accounts.setLimits(account.id, { requestsPerMinute: 100_000 }));
});
afterEach(async () => {
  expect(coordinator.fatal).toEqual([]);
  await coordinator[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

const join = (): Promise<FakeIsland> => FakeIsland.join(coordinator.url, account.islandToken, { slots: 100 });
const api = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  call(coordinator.url, account.key, method, path, body, headers);

async function submit(more: object = {}): Promise<{ id: string; webhook_secret?: string }> {
  const request = { workload: "tiny-chat", input: { prompt: "Hi" }, webhook_url: receiver.url, ...more };
  const { status, body } = await api("POST", "/jobs", request);
  expect([status, body.error]).toEqual([201, undefined]);
  return body.data as { id: string; webhook_secret?: string };
}

function finished(assign: Assign, text = "Hello"): FromIsland[] {
  return [outputFrame(assign, 1, text), finishedFrame(assign, 2, { completionTokens: 2 })];
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests read what the wire says
const webhookOf = async (path: string): Promise<any> => (await api("GET", path)).body.data.webhook;
const settled = (path: string) =>
  until(
    () => webhookOf(path),
    ({ state }) => state === "delivered" || state === "failed",
    "the webhook was delivered or given up",
  );

describe("the webhook of a job", () => {
  it("reports its completion, signed with the secret of the submission's response", async () => {
    await using island = await join();
    const { id, webhook_secret: secret = "" } = await submit();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const shown = await webhookOf(`/jobs/${id}`);
    expect(shown).toEqual({ url: receiver.url, state: "waiting", attempts: [] });
    island.send(...finished(await island.next("assign")));
    const request = await receiver.next();
    expect(verifySignature(secret, request)).toEqual(request.body);
    expect(() => verifySignature(OWN_SECRET, request)).toThrow(/signature/);
    expect(request.headers["webhook-id"]).toMatch(/^msg_[0-9A-Z]{26}$/);
    expect(request.headers["content-type"]).toBe("application/json");
    await settled(`/jobs/${id}`);
    const { data } = (await api("GET", `/jobs/${id}`)).body;
    const { input, webhook, waiting, placement, verification, ...rest } = data;
    expect(request.body).toEqual({
      type: "job.completed",
      timestamp: data.completed_at,
      data: { ...rest, output: "Hello", output_omitted: false },
    });
    expect([input, waiting, placement, verification]).toEqual([{ prompt: "Hi" }, null, null, null]);
    expect(webhook).toMatchObject({ state: "delivered", attempts: [{ status: 204, error: null }] });
    expect(JSON.stringify(data)).not.toContain(secret);
  });

  it("is signed with the client's own secret, which no response contains", async () => {
    await using island = await join();
    const submitted = await submit({ webhook_secret: OWN_SECRET });
    expect(JSON.stringify(submitted)).not.toContain("whsec_");
    island.send(...finished(await island.next("assign")));
    verifySignature(OWN_SECRET, await receiver.next());
  });

  it("reports a failure and a cancellation", async () => {
    await using island = await join();
    await submit();
    const { jobId, attempt } = await island.next("assign");
    const failure = { code: "invalid_input" as const, message: "no", retryable: false };
    island.send({ type: "failed", jobId, attempt, seq: 1, ...failure });
    const error = { ...failure, message: "The Cargo cannot run this input. The Island says: no" };
    expect((await receiver.next()).body).toMatchObject({ type: "job.failed", data: { id: jobId, error } });
    const { id } = await submit();
    await api("DELETE", `/jobs/${id}`);
    expect((await receiver.next()).body).toMatchObject({ type: "job.cancelled", data: { id, status: "cancelled" } });
  });

  it("omits an output of more than 256 KB", async () => {
    await using island = await join();
    await submit();
    island.send(...finished(await island.next("assign"), "x".repeat(262_200)));
    expect((await receiver.next()).body.data).toMatchObject({ output: null, output_omitted: true });
  });

  it("includes an output that is stored in pieces and is small enough", async () => {
    const runtimes = [{ type: "wasm" as const, version: "1" }];
    await using island = await FakeIsland.join(coordinator.url, account.islandToken, { runtimes });
    await submit({ workload: "base64", input: { data: "a" } });
    const output = { data: `${"x".repeat(100_000)}\u00e9\n` };
    island.send(finishedFrame(await island.next("assign"), 1, { output }));
    expect((await receiver.next()).body.data).toMatchObject({ output, output_omitted: false });
  });

  it("is retried after a 500, with the same id, until it is accepted", async () => {
    await using island = await join();
    receiver.responses.push(500, 503);
    const { id, webhook_secret: secret = "" } = await submit();
    island.send(...finished(await island.next("assign")));
    const tries = [await receiver.next(), await receiver.next(), await receiver.next()];
    for (const one of tries) verifySignature(secret, one);
    expect(new Set(tries.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(tries.map(({ text }) => text)).size).toBe(1);
    const { state, attempts } = await settled(`/jobs/${id}`);
    expect(state).toBe("delivered");
    expect(attempts.map(({ status }: { status: number }) => status)).toEqual([500, 503, 204]);
  });

  it("is abandoned after a 410", async () => {
    await using island = await join();
    receiver.responses.push(410);
    const { id } = await submit();
    island.send(...finished(await island.next("assign")));
    const log = await settled(`/jobs/${id}`);
    expect(log).toMatchObject({ state: "failed", attempts: [{ status: 410 }] });
  });

  it("does not follow a redirect", async () => {
    await using island = await join();
    await using elsewhere = await WebhookReceiver.start();
    receiver.responses.push((_request, response) => response.writeHead(307, { location: elsewhere.url }).end());
    const { id } = await submit();
    island.send(...finished(await island.next("assign")));
    const { attempts } = await settled(`/jobs/${id}`);
    expect(attempts.map(({ status }: { status: number }) => status)).toEqual([307, 204]);
    expect(elsewhere.received).toEqual([]);
  });

  it("survives a restart during an attempt, and keeps its id", async () => {
    await using island = await join();
    // The receiver accepts the request and never responds.
    receiver.responses.push(() => undefined);
    const { id } = await submit();
    island.send(...finished(await island.next("assign")));
    const first = await receiver.next();
    await coordinator.stop();
    await coordinator.start();
    const second = await receiver.next();
    expect(second.text).toBe(first.text);
    expect(second.headers["webhook-id"]).toBe(first.headers["webhook-id"]);
    expect(await settled(`/jobs/${id}`)).toMatchObject({ state: "delivered", attempts: [{ status: 204 }] });
  });

  it("is stored with the end of its job, and delivered after a restart if the coordinator crashes in between", async () => {
    const { id } = await submit();
    await coordinator.stop();
    await coordinator.withStore((store) => endUncharged(store, id, { event: "expire", attempt: 0 }));
    await coordinator.start();
    expect((await receiver.next()).body).toMatchObject({ type: "job.timeout", data: { id } });
  });

  it("shows one secret in all responses to an Idempotency-Key", async () => {
    const request = { workload: "tiny-chat", input: { prompt: "Hi" }, webhook_url: receiver.url };
    const send = () => api("POST", "/jobs", request, { "idempotency-key": "k" });
    const [first, second] = [await send(), await send()];
    expect(second.body).toEqual(first.body);
    expect(first.body.data.webhook_secret).toMatch(/^whsec_/);
  });
});

describe("the webhook of a batch", () => {
  it("is sent once, after the last job has ended", async () => {
    await using island = await join();
    const inputs = [{ prompt: "a" }, { prompt: "b" }, { prompt: "c" }];
    const { body } = await api("POST", "/jobs/batch", { workload: "tiny-chat", inputs, webhook_url: receiver.url });
    const { id, jobs, webhook_secret: secret } = body.data;
    const first = await island.next("assign");
    island.send(...finished(first), ...finished(await island.next("assign")));
    await until(
      async () => (await api("GET", `/jobs/batch/${id}`)).body.data.counts.completed as number,
      (completed) => completed === 2,
      "two completed",
    );
    expect(receiver.received).toEqual([]);
    await api("DELETE", `/jobs/${jobs[2].id}`);
    const request = await receiver.next();
    verifySignature(secret, request);
    expect(await settled(`/jobs/batch/${id}`)).toMatchObject({ state: "delivered", attempts: [{ status: 204 }] });
    const { webhook: _, ...data } = (await api("GET", `/jobs/batch/${id}`)).body.data;
    expect(request.body).toEqual({ type: "batch.finished", timestamp: data.completed_at, data });
    expect(data.counts).toMatchObject({ completed: 2, cancelled: 1 });
    expect(receiver.received).toHaveLength(1);
  });
});

describe("a private address", () => {
  it("is not reached by a name, unless the operator allows it", async () => {
    await coordinator.stop();
    coordinator.withFlags({ webhookAllowPrivate: "false", webhookRetryS: "3600" });
    await coordinator.start();
    const { id } = await submit({ webhook_url: `https://localhost:${receiver.port}/hook` });
    await api("DELETE", `/jobs/${id}`);
    const { state, attempts } = await until(
      () => webhookOf(`/jobs/${id}`),
      (log) => log.attempts.length > 0,
      "it was tried",
    );
    expect(state).toBe("pending");
    expect(attempts).toMatchObject([{ status: null, error: "the host localhost has a private address" }]);
    expect(receiver.received).toEqual([]);
  });
});
