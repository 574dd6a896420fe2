import { AuthenticationError, NotFoundError, OpenAI } from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Api } from "../http/api.ts";
import { completeWith, failLate, failWith, MESSAGES } from "../http/scripted-chats.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

describe("the official OpenAI client", () => {
  const client = () => new OpenAI({ apiKey: api.key, baseURL: `${api.url}/api/v1`, maxRetries: 0 });

  it("completes and streams a chat, with tokens and cost", async () => {
    completeWith(api, "Hel", "lo");
    const messages = [{ role: "user" as const, content: "Hi" }];
    const whole = await client().chat.completions.create({ model: "tiny", messages });
    expect(whole.choices[0]?.message.content).toBe("Hello");
    expect(whole.usage).toMatchObject({ total_tokens: 5, cost: 1.5 });
    const stream = await client().chat.completions.create({
      model: "tiny",
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let usage: object | null | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      usage = chunk.usage ?? usage;
    }
    expect(text).toBe("Hello");
    expect(usage).toMatchObject({ total_tokens: 5, cost: 1.5 });
  });

  it("throws on a mid-stream error", async () => {
    failWith(api, "runtime_crashed", "half");
    const stream = await client().chat.completions.create({
      model: "tiny",
      messages: [{ role: "user", content: "Hi" }],
      stream: true,
    });
    const read = async (): Promise<void> => {
      for await (const chunk of stream) expect(chunk.object).toBe("chat.completion.chunk");
    };
    await expect(read()).rejects.toThrow("because");
  });

  it("throws on an error after the headers and comments of a waiting stream", async () => {
    const create = {
      chat: () => client().chat.completions.create({ model: "tiny", messages: MESSAGES, stream: true }),
      completion: () => client().completions.create({ model: "tiny", prompt: "Hi", stream: true }),
      response: () => client().responses.create({ model: "tiny", input: "Hi", stream: true }),
    };
    for (const [name, begin] of Object.entries(create)) {
      failLate(api, `no Island for a ${name}`);
      const read = async (): Promise<void> => {
        for await (const chunk of await begin()) expect(chunk).toBeDefined();
      };
      await expect(read()).rejects.toThrow(`no Island for a ${name}`);
    }
  });

  it("lists models, and gets errors of the right class", async () => {
    const slugs = [];
    for await (const model of client().models.list()) slugs.push(model.id);
    expect(slugs).toEqual(["second", "tiny", "words"]);
    await expect(client().models.retrieve("wordless")).rejects.toBeInstanceOf(NotFoundError);
    const stranger = new OpenAI({ apiKey: "ak_wrong", baseURL: `${api.url}/api/v1`, maxRetries: 0 });
    await expect(stranger.models.list()).rejects.toBeInstanceOf(AuthenticationError);
  });
});
