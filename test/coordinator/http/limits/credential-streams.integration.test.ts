import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Api, BodyReader, eventually } from "../api.ts";
import { token } from "../scripted-chats.ts";
import { makeJob } from "../scripted-jobs.ts";

const PASSWORD = "correct horse battery";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

async function open(key: string): Promise<BodyReader> {
  return new BodyReader(await api.fetch("GET", "/jobs/job_1/stream", { key }));
}
async function newKey(): Promise<{ id: string; key: string }> {
  const { body } = await api.call("POST", "/api-keys", { body: {} });
  return body;
}

describe("an open stream", () => {
  it("ends when its key is revoked, while those of other keys continue", async () => {
    const feed = api.jobs.add(makeJob({ accountId: api.accountId }));
    const { id, key } = await newKey();
    const [first, second, other] = [await open(key), await open(key), await open(api.key)];
    expect((await api.call("DELETE", `/api-keys/${id}`)).status).toBe(200);
    await expect(first.toEnd()).rejects.toThrow("terminated");
    await expect(second.toEnd()).rejects.toThrow("terminated");
    await eventually(() => feed.listeners === 1);
    feed.push([token("secret")]);
    await other.until("\n\n");
    expect([first.text, second.text, other.text.includes("secret")]).toEqual(["", "", true]);
    expect((await api.fetch("GET", "/jobs/job_1/stream", { key })).status).toBe(401);
    await other.cancel();
  });

  it("ends when its session is logged out", async () => {
    const email = "streamer@example.com";
    const { body } = await api.call("POST", "/auth/register", { key: null, body: { email, password: PASSWORD } });
    const { token: session, account } = body.data;
    api.jobs.add(makeJob({ accountId: account.id }));
    const reader = await open(session);
    expect((await api.call("POST", "/auth/logout", { key: session })).status).toBe(200);
    await expect(reader.toEnd()).rejects.toThrow("terminated");
  });

  it("ends at the next heartbeat when another process revokes its key", async () => {
    const feed = api.jobs.add(makeJob({ accountId: api.accountId }));
    const { id, key } = await newKey();
    const reader = await open(key);
    api.clock.advance(15_000);
    await reader.until(": heartbeat\n\n");
    await api.store.accounts.revokeKey(api.accountId, id, api.clock.now());
    feed.push([token("between")]);
    await reader.until("\n\n");
    api.clock.advance(15_000);
    await expect(reader.toEnd()).rejects.toThrow("terminated");
    await eventually(() => feed.listeners === 0);
    expect(api.clock.pendingTimers).toBe(0);
  });

  it("ends its job as well if it streams a chat", async () => {
    api.jobs.onSubmit = (feed) => feed.push([token("half")]);
    const { id, key } = await newKey();
    const body = { messages: [{ role: "user", content: "Hi" }], stream: true };
    const reader = new BodyReader(await api.fetch("POST", "/chat/completions", { key, body }));
    await reader.until("\n\n");
    await api.call("DELETE", `/api-keys/${id}`);
    await expect(reader.toEnd()).rejects.toThrow("terminated");
    await eventually(() => api.jobs.cancelled.length === 1);
  });
});
