import { afterEach, beforeEach, expect, it } from "vitest";
import { Api } from "../api.ts";
import { makeCargo } from "../api-catalog.ts";
import { answerWith, MESSAGES } from "../chat-answers.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

it("POST /chat/completions takes max_tokens up to the context of the Cargo", async () => {
  answerWith(api, "x");
  api.catalog.replace([makeCargo({ slug: "long", contextTokens: 8_192 })]);
  const chat = (tokens: number) =>
    api.call("POST", "/chat/completions", { body: { messages: MESSAGES, model: "long", max_tokens: tokens } });
  expect((await chat(8_192)).status).toBe(200);
  const { status, body } = await chat(8_193);
  expect([status, body.error.param]).toEqual([422, "max_tokens"]);
  expect(body.error.message).toContain("at most 8192");
});

it("POST /chat/completions names the Cargo's own context where it is smaller", async () => {
  api.catalog.replace([makeCargo({ slug: "short", contextTokens: 1_024 })]);
  const { body } = await api.call("POST", "/chat/completions", {
    body: { messages: MESSAGES, model: "short", max_tokens: 100_000 },
  });
  expect(body.error.message).toBe("max_tokens: must be at most 1024, the context of this Cargo in tokens");
});
