import { NotFoundError, OpenAI } from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Api, eventually } from "../../http/api.ts";
import { completeWith, failLate, failWith, token } from "../../http/scripted-chats.ts";
import { DONE } from "../../http/scripted-jobs.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const client = () => new OpenAI({ apiKey: api.key, baseURL: `${api.url}/api/v1`, maxRetries: 0 }).responses;
const inputs = () => api.jobs.submitted.map(({ input }) => input);
/** Scripted jobs do not keep the data that real ones keep after their end. */
const complete = (id: string) => {
  const job = api.jobs.jobs.get(id);
  if (job !== undefined)
    api.jobs.jobs.set(id, {
      ...job,
      state: "completed",
      finishReason: "stop",
      usage: DONE.usage,
      creditsUsedMicro: DONE.creditsUsedMicro,
    });
};

const SUM = { type: "function" as const, name: "sum", parameters: {}, strict: null };

describe("POST /responses with the official client", () => {
  it("responds to a text with instructions", async () => {
    completeWith(api, "Hel", "lo");
    const response = await client().create({
      model: "tiny",
      input: "Hi",
      instructions: "Be kind.",
      max_output_tokens: 9,
      temperature: 0,
      metadata: { a: "b" },
    });
    expect(response).toMatchObject({
      id: "resp_new1",
      status: "completed",
      output_text: "Hello",
      model: "tiny",
      instructions: "Be kind.",
      metadata: { a: "b" },
      usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5, cost: 1.5 },
    });
    expect(inputs()[0]).toMatchObject({
      system_prompt: "Be kind.",
      messages: [{ role: "user", content: "Hi" }],
      max_tokens: 9,
      temperature: 0,
    });
  });

  it("accepts messages with parts, including those of an earlier response", async () => {
    completeWith(api, "Hello");
    const first = await client().create({ model: "tiny", input: [{ role: "developer", content: "Short." }] });
    const next = { role: "user" as const, content: [{ type: "input_text" as const, text: "And?" }] };
    await client().create({ model: "tiny", input: [...first.output, next] as OpenAI.Responses.ResponseInput });
    expect(inputs()[1]?.["messages"]).toEqual([
      { role: "assistant", content: "Hello" },
      { role: "user", content: "And?" },
    ]);
  });

  it("streams its events in order, with sequence numbers", async () => {
    completeWith(api, "Hel", "lo");
    const types: string[] = [];
    const stream = client().stream({ model: "tiny", input: "Hi" });
    for await (const { type, sequence_number: number } of stream) {
      expect(number).toBe(types.length);
      types.push(type);
    }
    expect(types).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect((await stream.finalResponse()).output_text).toBe("Hello");
  });

  it("reports that a response was truncated", async () => {
    api.jobs.onSubmit = (feed) => {
      feed.push([token("Hel")]);
      feed.end({ ...DONE, finishReason: "length" });
    };
    const { status, incomplete_details: details } = await client().create({ model: "tiny", input: "Hi" });
    expect([status, details]).toEqual(["incomplete", { reason: "max_output_tokens" }]);
    const stream = await client().create({ model: "tiny", input: "Hi", stream: true });
    const types: string[] = [];
    for await (const { type } of stream) types.push(type);
    expect(types.at(-1)).toBe("response.incomplete");
  });

  it("ends a failed stream with response.failed", async () => {
    failWith(api, "runtime_crashed", "half");
    const stream = await client().create({ model: "tiny", input: "Hi", stream: true });
    const events = [];
    for await (const event of stream) events.push(event);
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      response: {
        status: "failed",
        error: { code: "server_error", message: "because" },
        output: [{ status: "incomplete", content: [{ text: "half" }] }],
      },
    });
  });

  it.each([
    ["context_length_exceeded", "context_length_exceeded"],
    ["invalid_input", "invalid_prompt"],
  ] as const)("ends a stream with response.failed for %s, even without output", async (code, expected) => {
    failLate(api, "because", code);
    const stream = await client().create({ model: "tiny", input: "Hi", stream: true });
    const events = [];
    for await (const event of stream) events.push(event);
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      response: { status: "failed", error: { code: expected, message: "because" }, output: [] },
    });
  });

  it("returns JSON that matches a schema", async () => {
    completeWith(api, "{}");
    const schema = { type: "object", properties: {}, additionalProperties: false };
    const format = { type: "json_schema" as const, name: "none", schema, strict: true };
    const { text } = await client().create({ model: "tiny", input: "Hi", text: { format } });
    expect(text?.format).toEqual(format);
    const json_schema = { name: "none", schema, strict: true };
    expect(inputs()[0]?.["response_format"]).toEqual({ type: "json_schema", json_schema });
  });
});

describe("stored responses", () => {
  it("are continued without their instructions", async () => {
    completeWith(api, "Hello");
    const first = await client().create({ model: "tiny", input: "Hi", instructions: "Be kind." });
    complete("job_new1");
    const second = await client().create({ model: "tiny", input: "And?", previous_response_id: first.id });
    expect(second.previous_response_id).toBe(first.id);
    expect(inputs()[1]).toMatchObject({
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Hello" },
        { role: "user", content: "And?" },
      ],
    });
    expect(inputs()[1]).not.toHaveProperty("system_prompt");
  });

  it("can be read and deleted", async () => {
    completeWith(api, "Hello");
    const made = await client().create({ model: "tiny", input: "Hi", metadata: { a: "b" } });
    complete("job_new1");
    expect(await client().retrieve(made.id)).toEqual(made);
    await client().delete(made.id);
    const { status, body } = await api.call("GET", `/responses/${made.id}`);
    expect([status, body.error.code]).toEqual([410, "content_removed"]);
  });

  it("are removed at their end with store: false", async () => {
    completeWith(api, "Hello");
    api.jobs.onSubmit = ((answer) => (feed, job) => {
      answer(feed, job);
      complete(job.id);
    })(api.jobs.onSubmit);
    const { output_text: text, id } = await client().create({ model: "tiny", input: "Hi", store: false });
    expect(text).toBe("Hello");
    await eventually(() => api.jobs.jobs.get("job_new1")?.inputRemovedAtMs !== null);
    await expect(client().create({ model: "tiny", input: "Hi", previous_response_id: id })).rejects.toThrow(
      /previous_response_id/,
    );
  });

  it("continue in the background until they are cancelled", async () => {
    const made = await client().create({ model: "tiny", input: "Hi", background: true });
    expect([made.status, made.background]).toEqual(["queued", true]);
    expect(api.jobs.submitted[0]).not.toHaveProperty("isClientBound");
    expect((await client().retrieve(made.id)).status).toBe("queued");
    expect((await client().cancel(made.id)).status).toBe("cancelled");
  });

  it("are visible to one account, and do not include other jobs", async () => {
    completeWith(api, "Hello");
    await api.call("POST", "/chat/completions", { body: { messages: [{ role: "user", content: "Hi" }] } });
    for (const id of ["resp_new1", "resp_none", "job_new1"]) {
      await expect(client().retrieve(id)).rejects.toBeInstanceOf(NotFoundError);
    }
    const made = await client().create({ model: "tiny", input: "Hi" });
    const other = await Api.open();
    expect((await other.call("GET", `/responses/${made.id}`)).status).toBe(404);
    await other[Symbol.asyncDispose]();
  });

  it.each([
    [{ previous_response_id: "resp_none" }, "previous_response_id"],
    [{ background: true, stream: true }, "background"],
    [{ input: [{ type: "item_reference", id: "msg_none" }] }, 'input.0.id: there is no stored item "msg_none"'],
    [{ input: [{ type: "item_reference", id: "x" }] }, 'input.0.id: there is no stored item "x"'],
    [
      { input: [{ role: "user", content: [{ type: "input_image", image_url: "x" }] }] },
      "input.0.content.0.image_url: must be a data URL",
    ],
    [{ input: [null] }, "list of 1 to 4096 items"],
    [{ input: [{}] }, "input.0.role: is missing"],
    [{ tools: [{ ...SUM, parameters: { type: "array" } }] }, "tools.0.parameters"],
    [{ tools: [SUM, SUM] }, "tools.1.name"],
    [{ tool_choice: "required" }, "tool_choice"],
    [{ input: [{ type: "function_call", call_id: "call_1", name: "sum" }] }, "arguments"],
    [{ text: { format: { type: "json_schema", name: "a", schema: { type: "nothing" } } } }, "text.format"],
  ])("refuse %j by name", async (body, told) => {
    const answer = await api.call("POST", "/responses", { body: { model: "tiny", input: "Hi", ...body } });
    expect(answer.status).toBe(422);
    expect(Object.keys(body)).toContain(answer.body.error.param.split(".")[0]);
    expect(answer.body.error.message).toContain(told);
  });
});
