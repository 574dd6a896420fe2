import Anthropic, { APIError, AuthenticationError, NotFoundError, UnprocessableEntityError } from "@anthropic-ai/sdk";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Api, eventually } from "./api.ts";
import { answerWith, failWith } from "./chat-answers.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const ASKED = { model: "tiny", max_tokens: 20, messages: [{ role: "user" as const, content: "Hi" }] };

describe("the official Anthropic client", () => {
  const client = (baseURL = api.url, apiKey = api.key) => new Anthropic({ apiKey, baseURL, maxRetries: 0 });

  it.each(["", "/api"])("completes below %j, with its key in x-api-key", async (base) => {
    answerWith(api, "Hel", "lo");
    // The client's types have them no more; its older versions and other clients send them.
    const sampling = { top_p: 0.5, top_k: 3 };
    const message = await client(`${api.url}${base}`).messages.create({
      ...ASKED,
      ...sampling,
      system: [{ type: "text", text: "Be kind.", cache_control: { type: "ephemeral" } }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "H" },
            { type: "text", text: "i" },
          ],
        },
        { role: "assistant", content: "Ho" },
        { role: "user", content: "Well?" },
      ],
      stop_sequences: ["."],
    });
    expect(message).toMatchObject({
      id: "job_new1",
      model: "tiny",
      content: [{ type: "text", text: "Hello" }],
      stop_reason: "end_turn",
      usage: { input_tokens: 3, output_tokens: 2 },
    });
    expect(api.jobs.submitted[0]?.input).toEqual({
      messages: [
        { role: "system", content: "Be kind." },
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Ho" },
        { role: "user", content: "Well?" },
      ],
      max_tokens: 20,
      temperature: 1,
      top_p: 0.5,
      top_k: 3,
      stop: ["."],
    });
  });

  it("streams", async () => {
    answerWith(api, "Hel", "lo");
    const stream = client().messages.stream(ASKED);
    const [types, texts]: [string[], string[]] = [[], []];
    stream.on("text", (text) => void texts.push(text));
    for await (const event of stream) types.push(event.type);
    expect(types.filter((type) => type !== "content_block_delta")).toEqual([
      "message_start",
      "content_block_start",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    const { usage, stop_reason: reason } = await stream.finalMessage();
    expect([texts, usage.input_tokens, usage.output_tokens, reason]).toEqual([["Hel", "lo"], 3, 2, "end_turn"]);
  });

  it("throws at an error in mid-stream", async () => {
    failWith(api, "runtime_crashed", "half");
    const stream = client().messages.stream(ASKED);
    await expect(stream.finalMessage()).rejects.toThrow("because");
  });

  it("asks for JSON of a schema", async () => {
    answerWith(api, "{}");
    const schema = { type: "object", properties: {}, additionalProperties: false };
    await client().messages.create({ ...ASKED, output_config: { format: { type: "json_schema", schema } } });
    const format = { type: "json_schema", json_schema: { name: "output", schema, strict: true } };
    expect(api.jobs.submitted[0]?.input["response_format"]).toEqual(format);
  });

  it("counts the tokens of a prompt by a job that makes one", async () => {
    answerWith(api, "x");
    const { model, messages } = ASKED;
    expect(await client().messages.countTokens({ model, messages, system: "S" })).toEqual({ input_tokens: 3 });
    expect(api.jobs.submitted[0]?.input).toEqual({
      messages: [{ role: "system", content: "S" }, ...messages],
      max_tokens: 1,
    });
  });

  it("knows the errors by their classes and types", async () => {
    const thrownBy = (asked: Promise<unknown>): Promise<unknown> => asked.catch((error: unknown) => error);
    expect(await thrownBy(client(api.url, "ak_wrong").messages.create(ASKED))).toBeInstanceOf(AuthenticationError);
    const missing = await thrownBy(client().messages.create({ ...ASKED, model: "none" }));
    expect(missing).toBeInstanceOf(NotFoundError);
    expect(missing).toMatchObject({ type: "not_found_error", requestID: expect.stringMatching(/./) });
    const image = { type: "image" as const, source: { type: "url" as const, url: "https://x" } };
    const wrong = await thrownBy(
      client().messages.create({ ...ASKED, messages: [{ role: "user", content: [image] }] }),
    );
    expect(wrong).toBeInstanceOf(UnprocessableEntityError);
    expect((wrong as APIError).message).toContain('\\"image\\" is not supported');
    failWith(api, "wait_timeout");
    expect(await thrownBy(client().messages.create(ASKED))).toMatchObject({ status: 503, type: "overloaded_error" });
  });

  it("cancels the job when it leaves", async () => {
    const controller = new AbortController();
    const asked = client().messages.create(ASKED, { signal: controller.signal });
    await eventually(() => api.jobs.submitted.length === 1);
    controller.abort();
    await expect(asked).rejects.toThrow();
    await eventually(() => api.jobs.cancelled.length === 1);
  });
});
