import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call } from "../support/http/http.ts";
import { CARGO, finished, output, SdkFixture, token } from "./sdk-fixture.ts";

/** Default chat slug of these SDKs. */
const THEIR_CHAT = "llm-chat";
const THEIR_PICTURE = "sdxl";
const INPUT = { prompt: "Hi", max_tokens: 20, temperature: 0.5 };

// Uses the request and response formats of the public product's SDKs. docs/use/sdks.md lists the differences.
describe("requests of the public product's SDKs", () => {
  let fixture: SdkFixture;
  beforeAll(async () => {
    fixture = await SdkFixture.open();
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const api = (method: string, path: string, body?: unknown, key = fixture.apiKey) =>
    call(fixture.coordinator.url, key, method, path, body);
  const submit = (workload: string, input: object = INPUT) => api("POST", "/jobs", { workload, input, priority: 0 });
  /** Lets the Island complete the job. */
  const complete = async (id: string): Promise<void> => {
    const assign = await fixture.taken(id);
    fixture.island.send(output(assign, 1, token("Hello")), finished(assign, 2));
    await fixture.island.next("ack", ({ jobId, seq }) => jobId === id && seq === 2);
  };

  it("submit, list and read a job with the default slug, workload_id and input", async () => {
    const { status, body } = await submit(THEIR_CHAT);
    const { id, workload_id: workloadId } = body.data;
    const facts = { id, workload_id: workloadId, workload_slug: CARGO };
    expect(status).toBe(201);
    expect(body.data).toMatchObject({ ...facts, status: "submitted", input: INPUT, created_at: expect.any(String) });
    expect(workloadId).toBeTypeOf("number");
    await complete(id);
    const list = (await api("GET", "/jobs?limit=1&offset=0")).body;
    expect(list.data).toEqual([expect.objectContaining({ ...facts, status: "completed", input: INPUT })]);
    expect(list.data[0]).not.toHaveProperty("output");
    expect(list.meta).toMatchObject({ total: expect.any(Number), limit: 1, offset: 0 });
    const detail = (await api("GET", `/jobs/${id}`)).body.data;
    expect(detail).toMatchObject({ ...facts, status: "completed", output: "Hello", input: INPUT });
    expect(detail.usage).toMatchObject({ total_tokens: expect.any(Number), credits_used: expect.any(Number) });
  });

  it("cancel a job, with id and status in the response", async () => {
    const { id } = (await submit(THEIR_CHAT)).body.data;
    await fixture.taken(id);
    expect(await api("DELETE", `/jobs/${id}`)).toMatchObject({
      status: 200,
      body: { data: { id, status: "cancelled" } },
    });
  });

  it("stream job events with name and JSON on one line each", async () => {
    const { id } = (await submit(THEIR_CHAT)).body.data;
    await complete(id);
    const headers = { Authorization: `Bearer ${fixture.apiKey}`, Accept: "text/event-stream" };
    const stream = await fetch(`${fixture.coordinator.url}/api/v1/jobs/${id}/stream`, { headers });
    const blocks = (await stream.text()).split("\n\n").filter((block) => /^event: /m.test(block));
    const events = blocks.map((block) => [
      /^event: (.*)$/m.exec(block)?.[1],
      JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? "") as Record<string, unknown>,
    ]);
    expect(events).toContainEqual(["token", expect.objectContaining({ content: "Hello" })]);
    expect(events.at(-1)).toEqual(["done", expect.objectContaining({ usage: expect.any(Object) })]);
  });

  it("complete a chat with the default slug", async () => {
    const pending = api("POST", "/chat/completions", {
      model: THEIR_CHAT,
      messages: [{ role: "user", content: "Hi" }],
      max_tokens: 20,
      temperature: 0.5,
      stream: false,
    });
    const assign = await fixture.taken();
    fixture.island.send(output(assign, 1, token("Hello")), finished(assign, 2));
    const { status, body } = await pending;
    expect([status, body.object, body.choices[0].message]).toMatchObject([
      200,
      "chat.completion",
      { role: "assistant", content: "Hello" },
    ]);
  });

  it("create a working key, inside data", async () => {
    const { body } = await api("POST", "/api-keys", { name: "sdk", scopes: ["read", "write"] });
    expect(body.data).toMatchObject({ id: expect.any(String), name: "sdk", key: expect.stringMatching(/^ak_/) });
    const account = await api("GET", "/account", undefined, body.data.key);
    expect(account.body.data).toMatchObject({ email: "client@example.com", credits: expect.any(Number) });
    const listed = (await api("GET", "/api-keys")).body.data as { id: string }[];
    expect(listed.find(({ id }) => id === body.data.id)).not.toHaveProperty("key");
    expect((await api("DELETE", `/api-keys/${body.data.id}`)).status).toBe(200);
    expect((await api("GET", "/account", undefined, body.data.key)).status).toBe(401);
  });

  it("get an error for sdxl while it is not offered, and list the offered models", async () => {
    expect(await submit(THEIR_PICTURE, { prompt: "a reef" })).toMatchObject({
      status: 404,
      body: { error: { code: "cargo_not_found" } },
    });
    const models = (await api("GET", "/models")).body.data as { id: string; alias_of: string | null }[];
    const aliases = models.filter(({ alias_of: slug }) => slug !== null);
    expect(aliases.map(({ id, alias_of: slug }) => [id, slug])).toEqual([[THEIR_CHAT, CARGO]]);
  });
});
