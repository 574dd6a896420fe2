import { describe, expect, it } from "vitest";
import { API_BASE } from "../../../../coordinator/http/http-deps.ts";
import { requestSchemas } from "../../../../tools/generated/api.ts";
import { committedExamples, ExampleCheck } from "../../../../tools/generated/examples.ts";
import { currentDocument } from "../../../support/http/openapi.ts";

const schemas = requestSchemas();
const requests = Object.entries(currentDocument().paths).flatMap(([path, item]) =>
  Object.entries(item).flatMap(([method, { requestBody }]) => {
    const media = requestBody?.content["application/json"];
    const name = `${method.toUpperCase()} ${path.slice(API_BASE.length)}`;
    return media === undefined ? [] : [{ name, example: media.example }];
  }),
);

describe("an example request of the document", () => {
  it.each(requests)("is accepted unchanged: $name", ({ name, example }) => {
    expect(schemas.get(name)?.safeParse(example)).toMatchObject({ success: true });
  });

  it("exists for every request", () => {
    expect(requests.length).toBeGreaterThan(10);
    expect(requests.filter(({ example }) => example === undefined).map(({ name }) => name)).toEqual([]);
  });
});

describe("npm run check", () => {
  const check = new ExampleCheck();
  const examples = committedExamples();
  const { createChatCompletion: chat = {}, ...others } = examples;
  const stale = { ...others, createChatCompletion: { ...chat, request: { messages: [], colour: "red" } } };

  it("reports examples that their schemas do not allow as stale, and all others as current", () => {
    expect(check.stale(examples)).toEqual([]);
    expect(check.stale(stale)).toEqual(["createChatCompletion"]);
    expect(check.stale(others)).toEqual(["createChatCompletion"]);
  });

  it("accepts newly recorded examples, of which the most complete is kept", () => {
    const operationId = "createChatCompletion";
    const { messages } = chat.request as { messages: unknown };
    const calls = [
      { operationId, request: { messages }, response: chat.response },
      { operationId, ...chat },
    ];
    expect(check.renewed(stale, calls)).toEqual(examples);
    expect(check.renewed(examples, [])).toEqual(examples);
  });
});
