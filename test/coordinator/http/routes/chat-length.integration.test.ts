import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Api } from "../api.ts";
import { makeCargo } from "../api-catalog.ts";
import { completeWith, MESSAGES } from "../scripted-chats.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

describe("max_tokens above the Cargo's limit", () => {
  const lowered = async (path: string, body: object): Promise<unknown> => {
    completeWith(api, "x");
    const { status } = await api.call("POST", path, { body });
    expect(status).toBe(200);
    return api.jobs.submitted.splice(0).map(({ input }) => input["max_tokens"]);
  };

  it.each([
    ["/chat/completions", { messages: MESSAGES, max_tokens: 200_000 }],
    ["/chat/completions", { messages: MESSAGES, max_completion_tokens: 2 ** 31 - 1 }],
    ["/messages", { messages: MESSAGES, max_tokens: 64_000 }],
    ["/messages", { messages: MESSAGES, max_tokens: 32_000, thinking: { type: "disabled" } }],
    ["/responses", { input: "Hi", max_output_tokens: 128_000 }],
    ["/completions", { prompt: "Hi", max_tokens: 32_000 }],
  ])("is lowered by POST %s of %j", async (path, body) => {
    api.catalog.replace([
      makeCargo({ slug: "long", contextTokens: 8_192 }),
      makeCargo({ slug: "short", contextTokens: 1_024 }),
      makeCargo({ slug: "unknown", contextTokens: null }),
      makeCargo({ slug: "huge", contextTokens: 1_000_000 }),
    ]);
    expect(await lowered(path, { ...body, model: "long" })).toEqual([8_192]);
    expect(await lowered(path, { ...body, model: "short" })).toEqual([4_096]);
    expect(await lowered(path, { ...body, model: "unknown" })).toEqual([4_096]);
  });

  it("is lowered to the maximum that agents accept", async () => {
    api.catalog.replace([makeCargo({ slug: "huge", contextTokens: 1_000_000 })]);
    const body = { messages: MESSAGES, model: "huge", max_tokens: 900_000 };
    expect(await lowered("/chat/completions", body)).toEqual([131_072]);
  });

  it("is lowered for a job", async () => {
    const { status } = await api.call("POST", "/jobs", {
      body: { workload: "tiny", input: { prompt: "Hi", max_tokens: 64_000 } },
    });
    expect([status, api.jobs.submitted[0]?.input]).toEqual([201, { prompt: "Hi", max_tokens: 4_096 }]);
  });

  it.each([0, 1.5, 2 ** 31])("is refused if it is %j", async (max_tokens) => {
    const { status, body } = await api.call("POST", "/chat/completions", { body: { messages: MESSAGES, max_tokens } });
    expect([status, body.error.param]).toEqual([422, "max_tokens"]);
  });
});
