import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runFrames } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

const [CHAT, OTHER_CHAT, EMBEDDER] = ["tiny-chat", "llama-3.2-1b-instruct", "multilingual-e5-small"];
/** Credits that a chat of 2 bytes holds: 1,024 tokens at 16 micro-credits, and the bytes at 4. */
const HELD = 0.016_392;
const MESSAGES = [{ role: "user", content: "Hi" }];

let coordinator: TestCoordinator;
let account: { id: string; key: string; islandToken: string };

beforeEach(async () => {
  coordinator = await TestCoordinator.open({ chatWaitS: "5" });
  account = await coordinator.createAccount("client@example.com");
});
afterEach(async () => {
  expect(coordinator.fatal).toEqual([]);
  await coordinator[Symbol.asyncDispose]();
});

const api = (key: string, method: string, path: string, body?: unknown) =>
  call(coordinator.url, key, method, path, body);

async function makeKey(limits: object): Promise<{ id: string; key: string }> {
  return (await api(account.key, "POST", "/api-keys", limits)).body;
}
/** Submits jobs of a Cargo in each possible way, and returns the responses. */
async function submitEach(key: string, slug: string): Promise<unknown[]> {
  const job = { workload: slug, input: { prompt: "Hi" } };
  const { id } = (await api(key, "POST", "/conversations", { model: slug })).body.data;
  const answers = [
    await api(key, "POST", "/jobs", job),
    await api(key, "POST", "/jobs/batch", { workload: slug, inputs: [job.input, job.input] }),
    await api(key, "POST", "/chat/completions", { model: slug, messages: MESSAGES }),
    await api(key, "POST", `/conversations/${id}/messages`, { content: "Hi" }),
  ];
  return answers.map(({ status, body }) => [status, body.error]);
}

describe("the Cargos of an API key", () => {
  it("restrict the jobs that it can submit, in any way", async () => {
    const { key } = await makeKey({ cargos: [CHAT] });
    const refused = [403, expect.objectContaining({ code: "cargo_not_allowed" })];
    expect(await submitEach(key, OTHER_CHAT)).toEqual([refused, refused, refused, refused]);
    const { status, body } = await api(key, "POST", "/embeddings", { model: EMBEDDER, input: "Hi" });
    expect([status, body.error.code]).toEqual([403, "cargo_not_allowed"]);
    expect((await api(key, "POST", "/jobs", { workload: CHAT, input: { prompt: "Hi" } })).status).toBe(201);
    expect((await api(account.key, "GET", "/jobs")).body.meta.total).toBe(1);
  });
});

describe("the monthly credits of an API key", () => {
  it("limit the charges and holds of all its jobs, and become available again if uncharged", async () => {
    const limits = { credits_per_month: 0.04 };
    const { id, key } = await makeKey(limits);
    const submit = (by = key) => api(by, "POST", "/jobs", { workload: CHAT, input: { prompt: "Hi" } });
    const [first] = [await submit(), await submit()];
    const now = new Date();
    const renewsAt = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString();
    const refused = (needed: number) => [
      402,
      expect.objectContaining({
        code: "key_credits_exceeded",
        required_credits: needed,
        remaining_credits: 0.007_216,
        renews_at: renewsAt,
      }),
    ];
    expect(await submitEach(key, CHAT)).toEqual([refused(HELD), refused(2 * HELD), refused(HELD), refused(HELD)]);
    expect((await api(account.key, "GET", "/account")).body.data.credits).toBe(1_000 - 2 * HELD);
    expect((await submit(account.key)).status).toBe(201);

    expect((await api(key, "DELETE", `/jobs/${first.body.data.id}`)).status).toBe(200);
    expect((await submit()).status).toBe(201);
    expect((await submit()).status).toBe(402);
    expect((await api(account.key, "PATCH", `/api-keys/${id}`, { credits_per_month: 0.05 })).body.data).toMatchObject({
      credits_per_month: 0.05,
      credits_this_month: 2 * HELD,
    });
  });
});

describe("the usage of an account", () => {
  it("includes the spending of each key and the earnings of its Islands", async () => {
    const { id, key } = await makeKey({});
    await using island = await FakeIsland.join(coordinator.url, account.islandToken);
    for (let count = 0; count < 2; count += 1) {
      await api(key, "POST", "/jobs", { workload: CHAT, input: { prompt: "Hi" } });
      const assign = await island.next("assign");
      island.send(...runFrames(assign, "Hel", "lo"));
      // The end is acknowledged once it is stored.
      while ((await island.next("ack")).seq < 2);
    }
    const { data, meta } = (await api(account.key, "GET", "/account/usage?by=workload,api_key")).body;
    // Each job has 2 prompt tokens at 4 micro-credits and 2 generated tokens at 16. The template of the prompt is free.
    expect(data).toMatchObject([
      { kind: "earned", workload_slug: CHAT, api_key_id: null, jobs: 2, credits: 0.000_072 },
      { kind: "spent", workload_slug: CHAT, api_key_id: id, jobs: 2, credits: 0.000_08, prompt_tokens: 10 },
    ]);
    expect(meta).toMatchObject({ spent: 0.000_08, earned: 0.000_072 });
  });
});
