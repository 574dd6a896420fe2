import { OpenAI } from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FeedItem } from "../../../../coordinator/store/jobs/job-store.ts";
import { Api } from "../../http/api.ts";
import { token } from "../../http/scripted-chats.ts";
import { DONE } from "../../http/scripted-jobs.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const client = () => new OpenAI({ apiKey: api.key, baseURL: `${api.url}/api/v1`, maxRetries: 0 }).responses;
const inputs = () => api.jobs.submitted.map(({ input }) => input);
const ask = { model: "tiny", input: "Hi" };

const answer = (...items: FeedItem[]) => {
  api.jobs.onSubmit = (feed, job) => {
    feed.push(items);
    feed.end(DONE);
    const kept = api.jobs.jobs.get(job.id);
    if (kept !== undefined) {
      api.jobs.jobs.set(job.id, {
        ...kept,
        state: "completed",
        finishReason: "stop",
        usage: DONE.usage,
        creditsUsedMicro: DONE.creditsUsedMicro,
      });
    }
  };
};
const thought = (content: string, count: number): FeedItem => ({ type: "reasoning", content, count });
const THOUGHTS = {
  id: "rs_new1",
  type: "reasoning",
  summary: [],
  content: [{ type: "reasoning_text", text: "Well, 15" }],
  encrypted_content: "rs_new1",
};
const TEXT = { id: "msg_new1_1", type: "message", content: [{ type: "output_text", text: "15!" }] };

describe("reasoning of responses", () => {
  beforeEach(() => answer(thought("Well,", 2), thought(" 15", 1), token("15"), token("!")));

  it("is a separate item, and its tokens are reported", async () => {
    const made = await client().create({ ...ask, reasoning: { effort: "none" } });
    expect(made).toMatchObject({
      output: [THOUGHTS, TEXT],
      output_text: "15!",
      reasoning: { effort: "none", summary: null },
      usage: { output_tokens_details: { reasoning_tokens: 3 } },
    });
    expect(inputs()[0]).toMatchObject({ reasoning_effort: "none" });
    expect(await client().retrieve(made.id)).toEqual(made);
  });

  it("is streamed before the text, and the official client assembles it", async () => {
    const stream = client().stream(ask);
    const types: string[] = [];
    const done: unknown[] = [];
    for await (const event of stream) {
      types.push(event.type.replace("response.", ""));
      if (event.type === "response.output_item.done") done.push(event.item);
    }
    expect(types.slice(2, -1)).toEqual([
      ...["output_item.added", "content_part.added", "reasoning_text.delta", "reasoning_text.delta"],
      ...["reasoning_text.done", "content_part.done", "output_item.done"],
      ...["output_item.added", "content_part.added", "output_text.delta", "output_text.delta"],
      ...["output_text.done", "content_part.done", "output_item.done"],
    ]);
    const { output } = await stream.finalResponse();
    expect(output).toMatchObject([THOUGHTS, TEXT]);
    expect(done).toMatchObject([THOUGHTS, TEXT]);
  });

  it("gets another item when it occurs again, in stream and response", async () => {
    answer(thought("One", 1), token("1"), thought("Two", 1), token("2"));
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of await client().create({ ...ask, stream: true })) events.push(event);
    const items = events.flatMap((event) => (event.type === "response.output_item.done" ? [event.item] : []));
    expect(items.map(({ id }) => id)).toEqual(["rs_new1", "msg_new1_1", "rs_new1_2", "msg_new1_3"]);
    expect(events.at(-1)).toMatchObject({ response: { output: items } });
  });

  it("is not sent to the model again", async () => {
    const first = await client().create(ask);
    const next = { role: "user" as const, content: "And?" };
    await client().create({ ...ask, input: [...(first.output as OpenAI.Responses.ResponseInput), next] });
    await client().create({ ...ask, input: "And?", previous_response_id: first.id });
    expect(inputs()[1]?.["messages"]).toEqual([{ role: "assistant", content: "15!" }, next]);
    expect(JSON.stringify(inputs()[2])).not.toContain("Well");
  });

  it("is ignored for a Cargo without reasoning, which is reported", async () => {
    const asked = { ...ask, include: ["web_search_call.results", "reasoning.encrypted_content"] };
    const { status, headers } = await api.call("POST", "/responses", {
      body: { ...asked, reasoning: { effort: "high" } },
    });
    expect([status, headers.get("atoll-ignored")]).toEqual([200, "include[0], include[1], reasoning.effort"]);
    expect(inputs()[0]).not.toHaveProperty("reasoning_effort");
  });
});

describe("log probabilities of responses", () => {
  const other = { token: "16", logprob: -2 };
  const told: FeedItem = { ...token("15"), logprobs: [{ token: "15", logprob: -0.5, top: [other] }] } as FeedItem;
  const entry = {
    token: "15",
    bytes: [49, 53],
    logprob: -0.5,
    top_logprobs: [{ token: "16", bytes: [49, 54], logprob: -2 }],
  };
  const included = { include: ["message.output_text.logprobs" as const] };
  beforeEach(() => answer(told));

  it.each([
    [included, { logprobs: true, top_logprobs: 0 }],
    [
      { ...included, top_logprobs: 1 },
      { logprobs: true, top_logprobs: 1 },
    ],
    [{ top_logprobs: 2 }, { logprobs: true, top_logprobs: 2 }],
  ])("are requested by %j", async (asked, input) => {
    const { output, top_logprobs: most } = await client().create({ ...ask, ...asked });
    expect(output).toMatchObject([{ content: [{ text: "15", logprobs: [entry] }] }]);
    expect(most).toBe(input.top_logprobs);
    expect(inputs()[0]).toMatchObject(input);
  });

  it("are in the events of a stream", async () => {
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of await client().create({ ...ask, ...included, stream: true })) events.push(event);
    const withThem = events.filter(({ type }) => /output_text/.test(type));
    expect(withThem).toMatchObject([{ logprobs: [entry] }, { logprobs: [entry] }]);
  });

  it.each([
    [{ include: ["reasoning.thoughts"] }, "include.0"],
    [{ top_logprobs: 21 }, "top_logprobs"],
  ])("refuse %j by name", async (asked, param) => {
    const { status, body } = await api.call("POST", "/responses", { body: { ...ask, ...asked } });
    expect([status, body.error.param]).toEqual([422, param]);
  });
});
