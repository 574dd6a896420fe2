import { createOpenAI } from "@ai-sdk/openai";
import { generateText, type ModelMessage } from "ai";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Api } from "../../http/api.ts";
import { DONE } from "../../http/scripted-jobs.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
  api.jobs.onSubmit = (feed, job) => {
    feed.push([{ type: "token", content: "Hello", count: 1 }]);
    feed.end(DONE);
    const kept = api.jobs.jobs.get(job.id);
    if (kept !== undefined) api.jobs.jobs.set(job.id, { ...kept, state: "completed", usage: DONE.usage });
  };
});
afterEach(() => api[Symbol.asyncDispose]());

const messages = () => api.jobs.submitted.map(({ input }) => input["messages"]);

it("an item reference is replaced by the item of the stored response, as the ai SDK sends it", async () => {
  const model = createOpenAI({ apiKey: api.key, baseURL: `${api.url}/v1` })("tiny");
  const asked: ModelMessage[] = [{ role: "user", content: "Hi" }];
  const { response } = await generateText({ model, messages: asked, maxRetries: 0 });
  await generateText({
    model,
    messages: [...asked, ...response.messages, { role: "user", content: "More" }],
    maxRetries: 0,
  });
  expect(messages()[1]).toEqual([
    { role: "user", content: "Hi" },
    { role: "assistant", content: "Hello" },
    { role: "user", content: "More" },
  ]);
});

it("referenced items are together limited to the size of a chat", async () => {
  api.jobs.onSubmit = (feed) => {
    feed.push([{ type: "token", content: "a".repeat(400_000), count: 1 }]);
    feed.end(DONE);
  };
  await api.call("POST", "/responses", { body: { model: "tiny", input: "Hi" } });
  const kept = api.jobs.jobs.get("job_new1");
  if (kept !== undefined) api.jobs.jobs.set("job_new1", { ...kept, state: "completed", usage: DONE.usage });
  const input = Array.from({ length: 4_000 }, () => ({ type: "item_reference", id: "msg_new1" }));
  const { status, body } = await api.call("POST", "/responses", { body: { model: "tiny", input } });
  expect([status, body.error.param]).toEqual([422, "input.2.id"]);
});

it("an item reference finds only items of the same account", async () => {
  await api.call("POST", "/responses", { body: { model: "tiny", input: "Hi" } });
  const body = { model: "tiny", input: [{ type: "item_reference", id: "msg_new1" }] };
  expect((await api.call("POST", "/responses", { body })).status).toBe(200);
  const other = await Api.open();
  const refused = await other.call("POST", "/responses", { body });
  expect([refused.status, refused.body.error.param]).toEqual([422, "input.0.id"]);
  await other[Symbol.asyncDispose]();
});
