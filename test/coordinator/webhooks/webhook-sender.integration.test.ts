import { rmSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ResolveHostUntil } from "../../../coordinator/webhooks/resolve-host.ts";
import type { WebhookRecord, WebhookStore, DeliveryAttempt } from "../../../coordinator/store/jobs/webhooks.ts";
import {
  MAX_ATTEMPT_MS,
  openWebhooks,
  RETRY_FOR_MS,
  type Webhooks,
} from "../../../coordinator/webhooks/webhook-sender.ts";
import { makeWebhook } from "../store/contract/batch-store.cases.ts";
import { MADE_AT_MS, makeAccount, makeEnding, makeJob, temporaryFolder } from "../store/contract/store-builders.ts";
import { testEnv } from "../../support/test-env.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { WebhookReceiver } from "../../support/servers/webhook-receiver.ts";
import { IS_POSTGRES, openTestStore, type TestStore } from "../../support/store/test-store.ts";

let folder: ReturnType<typeof temporaryFolder>;
let clock: ManualClock;
let store: TestStore;
let receiver: WebhookReceiver;
let accountId: string;
let sender: Webhooks;
let recorded: { tries: number; wake: (() => void)[] };
let begun: number;

function open(options: { allowPrivate?: boolean; resolveHost?: ResolveHostUntil } = {}): Webhooks {
  const { allowPrivate = true, resolveHost = async () => [{ address: "127.0.0.1", family: 4 }] } = options;
  const log = { ...testEnv().log, error: (facts: unknown) => expect(facts).toBeUndefined() };
  const recording: WebhookStore = {
    get: (id) => store.webhooks.get(id),
    pending: () => store.webhooks.pending(),
    adopt: () => store.webhooks.adopt(),
    toDeliver: (id) => store.webhooks.toDeliver(id),
    record: async (...args) => {
      await store.webhooks.record(...args);
      recorded.tries += 1;
      for (const wake of recorded.wake.splice(0)) wake();
    },
  };
  const payload = async ({ subjectId }: WebhookRecord): Promise<string> => {
    begun += 1;
    return JSON.stringify({ of: subjectId });
  };
  const env = testEnv({ webhookAllowPrivate: allowPrivate, webhookRetryMs: 5_000 }, { clock, log });
  return openWebhooks(env, recording, payload, resolveHost, () => 0.5);
}

beforeEach(async () => {
  folder = temporaryFolder();
  clock = new ManualClock();
  clock.advance(1_000_000);
  store = await openTestStore({ path: folder.file("atoll.db"), clock });
  receiver = await WebhookReceiver.start();
  accountId = await makeAccount(store, { grantMicro: 1_000_000_000 });
  recorded = { tries: 0, wake: [] };
  begun = 0;
  sender = open();
});
afterEach(async () => {
  await sender.close();
  await store.close();
  await receiver[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** Returns a due webhook of a job that has just been cancelled. */
async function makeDue(url = receiver.url, owner = accountId): Promise<string> {
  const webhook = makeWebhook({ url });
  const job = makeJob(owner, { webhook, createdAtMs: MADE_AT_MS });
  await store.jobs.submit(job);
  await store.jobs.end(makeEnding(job, { event: "cancel", attempt: 0, chargeMicro: 0, atMs: clock.now() }));
  return webhook.id;
}

/** Resolves when that number of attempts of this test is durable. */
async function tried(count: number): Promise<void> {
  while (recorded.tries < count) await new Promise<void>((resolve) => recorded.wake.push(resolve));
}

async function read(id: string): Promise<WebhookRecord> {
  const webhook = await store.webhooks.get(id);
  if (webhook === undefined) throw new Error(`No webhook ${id}`);
  return webhook;
}

const errorsOf = (tries: readonly DeliveryAttempt[]): (string | null)[] => tries.map(({ error }) => error);

describe("openWebhooks()", () => {
  it.skipIf(IS_POSTGRES)("abandons a webhook whose secret cannot be read", async () => {
    const id = await makeDue();
    await store.close();
    rmSync(folder.file("webhooks.key"));
    store = await openTestStore({ path: folder.file("atoll.db"), clock });
    await sender.start();
    await tried(1);
    expect(await read(id)).toMatchObject({ state: "failed", attempts: [{ error: "its secret cannot be read" }] });
    expect(receiver.received).toEqual([]);
  });

  it("retries for a day at growing intervals, then abandons the webhook", async () => {
    const id = await makeDue();
    receiver.responses.push(...Array.from({ length: 100 }, () => 500));
    const endedAtMs = clock.now();
    await sender.start();
    for (let count = 1; ; count += 1) {
      await tried(count);
      const [next] = await store.webhooks.pending();
      if (next === undefined) break;
      clock.advance(next.dueAtMs - clock.now());
    }
    const { state, attempts } = await read(id);
    expect(state).toBe("failed");
    const afterS = attempts.map(({ atMs }) => (atMs - endedAtMs) / 1_000);
    const hour = 3_600;
    const halfHour = 155 + 600 + 1_800;
    expect(afterS).toEqual([
      0,
      5,
      35,
      155,
      755,
      halfHour,
      ...[1, 3, 7, 11, 15, 19, 23].map((hours) => halfHour + hours * hour),
    ]);
    expect((attempts.at(-1)?.atMs ?? 0) - endedAtMs).toBeLessThanOrEqual(RETRY_FOR_MS);
    expect(receiver.received).toHaveLength(attempts.length);
    expect(clock.pendingTimers).toBe(1);
  });

  it("aborts an attempt that exceeds its time limit", async () => {
    const id = await makeDue();
    receiver.responses.push(() => undefined);
    await sender.start();
    await receiver.next();
    clock.advance(MAX_ATTEMPT_MS);
    await tried(1);
    const { state, attempts } = await read(id);
    expect(state).toBe("pending");
    expect(errorsOf(attempts)).toEqual(["no response within 15 s"]);
    clock.advance(5_000);
    await tried(2);
    expect((await read(id)).state).toBe("delivered");
  });

  it("retries an unreachable receiver", async () => {
    const gone = await WebhookReceiver.start();
    const { url } = gone;
    await gone[Symbol.asyncDispose]();
    const id = await makeDue(url);
    await sender.start();
    await tried(1);
    expect(await read(id)).toMatchObject({ state: "pending", attempts: [{ status: null, error: "ECONNREFUSED" }] });
  });

  it("reads a few KB of a response and no more", async () => {
    const id = await makeDue();
    let closed: Promise<void> = Promise.resolve();
    receiver.responses.push((_request, response) => {
      closed = new Promise((resolve) => response.once("close", resolve));
      // The body is endless, so the sender must disconnect.
      const write = (): void => {
        while (!response.destroyed && response.write("x".repeat(16_384)));
      };
      response.writeHead(200).on("drain", write);
      write();
    });
    await sender.start();
    await tried(1);
    await closed;
    expect(await read(id)).toMatchObject({ state: "delivered", attempts: [{ status: 200, error: null }] });
  });

  it("posts at most 4 webhooks of an account at once, and another account's in parallel", async () => {
    const other = await makeAccount(store);
    const mine = await Promise.all(Array.from({ length: 20 }, () => makeDue()));
    await using others = await WebhookReceiver.start();
    const theirs = await makeDue(others.url, other);
    const waiting: (() => void)[] = [];
    for (const _ of mine) {
      receiver.responses.push((_request, response) => void waiting.push(() => response.writeHead(204).end()));
    }
    await sender.start();
    await others.next();
    expect(begun).toBe(5);
    for (let answered = 0; answered < mine.length; answered += 1) {
      await receiver.next();
      if (waiting.length >= 4 || answered >= mine.length - 4) for (const answer of waiting.splice(0)) answer();
    }
    await tried(21);
    expect(receiver.mostOpen).toBe(4);
    expect(receiver.received).toHaveLength(20);
    for (const id of [...mine, theirs]) expect((await read(id)).state).toBe("delivered");
  });

  it("delivers a webhook once if it becomes due while the sender runs", async () => {
    await sender.start();
    const id = await makeDue();
    sender.add(id, accountId);
    sender.add(id, accountId);
    await tried(1);
    expect(receiver.received).toHaveLength(1);
    expect((await read(id)).state).toBe("delivered");
  });

  it("records nothing for an attempt that close() aborted", async () => {
    const id = await makeDue();
    receiver.responses.push(() => undefined);
    await sender.start();
    await receiver.next();
    await sender.close();
    expect(await read(id)).toMatchObject({ state: "pending", attempts: [] });
    expect(clock.pendingTimers).toBe(1);
    sender = open();
    await sender.start();
    await tried(1);
    expect((await read(id)).state).toBe("delivered");
  });
});

describe("openWebhooks() without private addresses", () => {
  it("refuses a name by the address of the connection", async () => {
    const asked: string[] = [];
    const resolveHost: ResolveHostUntil = async (host) => {
      asked.push(host);
      return [
        { address: "93.184.216.34", family: 4 },
        { address: "127.0.0.1", family: 4 },
      ];
    };
    sender = open({ allowPrivate: false, resolveHost });
    const id = await makeDue(`https://hooks.example:${receiver.port}/`);
    await sender.start();
    await tried(1);
    expect(errorsOf((await read(id)).attempts)).toEqual(["the host hooks.example has a private address"]);
    expect(asked).toEqual(["hooks.example"]);
    expect(receiver.received).toEqual([]);
  });

  it("refuses webhooks that were stored while private addresses were allowed", async () => {
    sender = open({ allowPrivate: false });
    const [literal, plain] = [await makeDue(`https://127.0.0.1:${receiver.port}/`), await makeDue()];
    await sender.start();
    await tried(2);
    expect(errorsOf((await read(literal)).attempts)).toEqual(["the URL must not be a private address"]);
    expect(errorsOf((await read(plain)).attempts)).toEqual(["the URL must be an https URL"]);
    expect(receiver.received).toEqual([]);
  });
});
